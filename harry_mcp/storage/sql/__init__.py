"""All SQL of the package, one file per aggregate. :mod:`harry_mcp.storage.queries` says how a file reads."""
