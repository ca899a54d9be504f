"""Sirocco: OASIS evaluation of AI agents, with adversarial verification."""

__version__ = "0.2.0"
