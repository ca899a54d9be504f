"""Environments of an external OASIS provider, reached over HTTP."""

from sirocco.providers.http.provider import HttpProvider

__all__ = ["HttpProvider"]
