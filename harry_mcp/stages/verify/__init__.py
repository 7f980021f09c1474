"""Stage 3: the official answer, and the web where the knowledge base does not know."""
