"""What works without a key: a small embedding model and a ranker, both on this machine."""
