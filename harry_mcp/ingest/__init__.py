"""From a source to contextual chunks: find what to read, read it, cut it, and give each passage its context."""
