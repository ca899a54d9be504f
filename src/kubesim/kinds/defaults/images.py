"""The pull policy that follows from a container's image."""

import re

_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*(?::[0-9]+)?"
_TAG = r"[\w][\w.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_NAME = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?", re.ASCII)
_FULL_DOMAIN = re.compile(_DOMAIN)
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")


def pull_policy(image: str) -> str:
    """Always for an image's `latest`, otherwise IfNotPresent; an invalid name counts as the latter."""
    first, slash, rest = image.partition("/")
    is_domain = bool(slash) and (any(mark in first for mark in ".:") or first == "localhost")
    if _IDENTIFIER.fullmatch(image) or (is_domain and not _FULL_DOMAIN.fullmatch(first)):
        return "IfNotPresent"
    matched = _NAME.fullmatch(rest if is_domain else image)
    if matched is None:
        return "IfNotPresent"
    tag = matched["tag"] or ("" if matched["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"
