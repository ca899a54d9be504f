"""Environments over TLS: certificates, the ASGI application of the agent plane, and the server that carries it."""
