"""The MCP surface: tools whose output tells an agent what to do next."""
