"""The tools of environments over MCP: authentication, and the server; only `server` needs the `mcp` package."""
