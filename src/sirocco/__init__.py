"""Sirocco: OASIS evaluation of AI agents, with adversarial verification."""

__version__ = "0.1.0"
