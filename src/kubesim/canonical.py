"""Canonical text for a value, and seeds derived from seeds: they make an environment the same on every machine."""

import hashlib
import json
from typing import Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """`value` as JSON with sorted keys and no white space; refuses NaN and infinities."""
    return _CANONICAL.encode(value)


def derived_seed(seed: int, *parts: str) -> int:
    """A 128-bit seed for one purpose, derived from another by hashing."""
    material = canonical_json([f"{seed:#x}", *parts])
    return int.from_bytes(hashlib.sha256(material.encode()).digest()[:16], "big")
