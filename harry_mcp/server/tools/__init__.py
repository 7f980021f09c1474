"""One module for each tool: its description for the model, its arguments, and the call into the app."""
