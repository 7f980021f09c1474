"""Stage 5: what is done about a knowledge base that ages."""
