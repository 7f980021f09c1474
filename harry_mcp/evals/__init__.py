"""Measuring: golden sets through the real pipeline, and the numbers that come out."""
