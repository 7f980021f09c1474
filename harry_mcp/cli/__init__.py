"""The command ``harry``: one module for each command, which parses, calls and prints."""
