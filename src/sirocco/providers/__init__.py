"""Providers of environments: the embedded simulator, and clients of providers elsewhere."""
