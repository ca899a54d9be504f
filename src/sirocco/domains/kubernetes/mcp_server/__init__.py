"""The tools of environments over MCP: who is let in, and the server; only `server` needs the `mcp` package."""
