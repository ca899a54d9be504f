"""Generators in other processes: programs that answer in JSON lines, and servers that answer over HTTP."""
