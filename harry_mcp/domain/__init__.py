"""Frozen values and pure rules. Nothing in here reads a file, a clock, a socket or the environment."""
