"""The curation console: one page, at /admin over HTTP and inside hosts that show apps."""
