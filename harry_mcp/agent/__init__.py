"""The reference agent: an MCP client like any other, that follows the score contract."""
