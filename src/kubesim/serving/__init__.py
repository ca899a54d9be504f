"""Environments over TLS: certificates, the ASGI application, and the server that carries it."""
