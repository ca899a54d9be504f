"""Domains: what only the system that agents operate can tell; each is a package here or brought by an entry point."""
