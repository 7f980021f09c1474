"""Stage 2: in which order, and how far to trust them."""
