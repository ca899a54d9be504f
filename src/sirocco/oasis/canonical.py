"""Canonical JSON and digests over it: equal values have equal texts and digests on every machine."""

import hashlib
import json
from json.encoder import encode_basestring
from typing import Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """`value` as JSON with sorted keys and no white space; refuses NaN and infinities."""
    return _CANONICAL.encode(value)


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of `value`, written `sha256:<hex>`."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> str:
    """SHA-256 over the UTF-8 bytes of `text`, written `sha256:<hex>`."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def derived_seed(seed: int, *parts: str | int) -> int:
    """A 128-bit seed for one purpose, hashed from a run's seed; independent of order and parallelism."""
    # The canonical JSON of a list of texts, built by hand for speed: an environment derives a dozen seeds.
    material = f"[{','.join(map(encode_basestring, (f'{seed:#x}', *map(str, parts))))}]"
    return int.from_bytes(hashlib.sha256(material.encode()).digest()[:16], "big")
