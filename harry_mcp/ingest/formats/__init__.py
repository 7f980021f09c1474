"""Document formats that are not text: each as the same normalised Markdown."""
