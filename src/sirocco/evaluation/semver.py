"""Versions by the precedence rules of Semantic Versioning 2.0.0, and constraints on them."""

import re
from dataclasses import dataclass
from functools import total_ordering

_IDENTIFIERS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"v?(\d+)\.(\d+)\.(\d+)(?:-(?P<prerelease>{_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?")
_CONSTRAINT = re.compile(r"\s*(?P<operator>>=|<=|==|=|>|<|~|\^)?\s*(?P<version>\S+)\s*")


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A version; build metadata is dropped, as it has no precedence."""

    release: tuple[int, int, int]
    prerelease: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Version | None":
        """Parse a version; None if the text is not one."""
        found = _VERSION.fullmatch(text.strip())
        if not found:
            return None
        prerelease = found["prerelease"]
        release = (int(found[1]), int(found[2]), int(found[3]))
        return cls(release, tuple(prerelease.split(".")) if prerelease else ())

    def __lt__(self, other: "Version") -> bool:
        return self._precedence() < other._precedence()

    def _precedence(self) -> tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]:
        """Release first; a prerelease precedes its release; numeric identifiers precede alphanumeric ones."""
        identifiers = tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in self.prerelease)
        return self.release, not self.prerelease, identifiers


def satisfies(text: str, constraint: str) -> bool:
    """Whether a version satisfies a constraint such as `>=1.0.0-rc1.5`; a bare version requires equality.

    `>=` stays within the same major version, because what a later major version promises is unknown. Texts that are not
    versions only equal themselves.
    """
    found = _CONSTRAINT.fullmatch(constraint)
    declared = Version.parse(text)
    wanted = Version.parse(found["version"]) if found else None
    if found is None or declared is None or wanted is None:
        return text.strip() == constraint.strip()
    same_major = declared.release[0] == wanted.release[0]
    match found["operator"]:
        case ">=" | "^":
            return same_major and declared >= wanted
        case "~":
            return declared.release[:2] == wanted.release[:2] and declared >= wanted
        case ">":
            return same_major and declared > wanted
        case "<=":
            return declared <= wanted
        case "<":
            return declared < wanted
    return declared == wanted
