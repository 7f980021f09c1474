"""Stage 1: which passages are worth a look."""
