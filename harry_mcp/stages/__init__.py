"""The loop's stages: siblings that never import one another."""
