"""A seed that neither side chooses alone: both commit to a share, then reveal it, and the seed follows from both.

Whoever reveals last cannot influence the seed any more, because the share is fixed by its commitment.
"""

import hashlib
import re
from collections.abc import Sequence

from sirocco.errors import ConfigError
from sirocco.oasis.canonical import digest

_SHARE = re.compile(r"[0-9a-f]{64}")
_FEWEST = 2


def commitment(share: str) -> str:
    """What is sent to the other side before anybody reveals a share."""
    return digest({"purpose": "sirocco-seed-share", "share": _required_share(share)})


def common_seed(shares: Sequence[str]) -> int:
    """The 128-bit seed that the shares determine together, in any order."""
    if len(set(shares)) < _FEWEST:
        raise ConfigError("--share", "a single share would choose the seed", "give one share per side")
    text = "\n".join(["sirocco-common-seed", *sorted(_required_share(share) for share in shares)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _required_share(share: str) -> str:
    if not _SHARE.fullmatch(share):
        raise ConfigError(
            "--share", "this is not a share", "make one with `sirocco claim share`: 64 hexadecimal digits"
        )
    return share
