"""Environments of an OASIS provider elsewhere, reached over HTTP."""

from sirocco.providers.http.provider import HttpProvider

__all__ = ["HttpProvider"]
