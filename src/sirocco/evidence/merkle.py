"""A Merkle root over recorded units: one digest for all evidence of a run."""

import hashlib
from collections.abc import Mapping

from sirocco.oasis.canonical import canonical_json


def merkle_root(digests: Mapping[str, str]) -> str:
    """The root over `unit id -> digest`, units in sorted order; leaves and nodes are hashed differently (RFC 6962)."""
    level = [
        hashlib.sha256(b"\x00" + canonical_json([unit, digests[unit]]).encode()).digest() for unit in sorted(digests)
    ]
    if not level:
        return f"sha256:{hashlib.sha256(b'').hexdigest()}"
    while len(level) > 1:
        pairs = [level[position : position + 2] for position in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\x01" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return f"sha256:{level[0].hex()}"
