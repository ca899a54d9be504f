"""Addresses of the console's pages."""

from typing import Any
from urllib.parse import quote, urlencode


def address(*parts: str, **query: Any) -> str:
    """An address of this console; whatever a name holds, it stays one part of the path."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    asked = urlencode({key: value for key, value in query.items() if value not in {None, ""}})
    return f"{path}?{asked}" if asked else path
