"""Reading logs: which lines report trouble, how often, and what kind of trouble an operator recognizes in them."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_LEVEL = re.compile(
    r"(?:^|[\s\[=\"])(trace|debug|info|notice|warn(?:ing)?|error|err|fatal|critical|panic)\b", re.IGNORECASE
)
_GRAVE = frozenset({"error", "err", "fatal", "critical", "panic"})
_CHATTER = frozenset({"trace", "debug", "info", "notice"})
_BAD_STATUS = r"(?<![\d.:-])50[0-4](?!\s*(?:ms|s|b|bytes|[kmg]i?b|rows|items|[a-z]+s)\b)"
_TROUBLE = re.compile(
    r"\b(?:fail\w*|error|exception|timed? ?out|timeout|refused|denied|unavailable|cannot|could not|couldn't|unable|"
    rf"{_BAD_STATUS}|expired|exhausted|dropped|rejected|reset|killed|corrupt\w*|panic|deadlock|too many)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"^\s*(?:panic|fatal|traceback|unhandled|segmentation fault|\S*(?:Error|Exception))\b[: ]")
_NUMBERS = re.compile(r"\d+")
_LONGEST = 1000
"""Characters of a line that are searched; nobody reads on, and searching must not take forever."""


class Topic(StrEnum):
    """The topic of trouble, in one word that operators use for it."""

    MEMORY = "memory"
    IMAGE = "image"
    CONFIGURATION = "configuration"
    SCHEDULING = "scheduling"
    STORAGE = "disk"
    CERTIFICATE = "certificate"
    POOL = "connection pool"
    NAMES = "DNS"
    RATE = "rate limit"
    ACCESS = "permissions"
    LOCKS = "locking"
    FILES = "open files"
    STARTUP = "startup"
    NETWORK = "network"
    VERSION = "rollout"
    DEPENDENCY = "dependency"
    UNKNOWN = "software"


@dataclass(frozen=True, slots=True)
class Family:
    """Lines that say the same in many wordings, what they mean, and what helps."""

    topic: Topic
    pattern: re.Pattern[str]
    meaning: str
    remedy: str


_ROWS = (
    (Topic.CERTIFICATE, r"cert\w*\b.*\b(?:expired|not (?:yet )?valid|out of date)|x509|certificate_expired",
     "a TLS certificate has expired or is no longer valid", "renew the certificate and reload whoever presents it"),
    (Topic.POOL, (r"pool\b.*\b(?:exhaust|full|error|empty|no (?:free|available)|timed? ?out)|connection slots|"
     r"too many (?:clients|connections)|(?:cannot|could not|unable to) (?:get|acquire|obtain) a connection"),
     "the connection pool is exhausted, so no free connection is left and requests wait",
     "find out what holds the connections, and raise the size of the pool only as far as the database allows"),
    (Topic.MEMORY, r"out of memory|outofmemory|\boom\b|cannot allocate memory|heap (?:space|is near|exhaust)",
     "memory runs out", "find what takes the memory, or raise the memory limit"),
    (Topic.STORAGE, r"no space left|disk(?: is)? full|disk quota|enospc|volume is full|read-only file system",
     "the disk is full, there is no space left to write", "free or enlarge the volume"),
    (Topic.RATE, r"\b429\b|rate.?limit|too many requests|throttl|quota exceeded",
     "requests to an upstream are turned away by a rate limit", "slow the calls down or have the limit raised"),
    (Topic.NAMES, r"no such host|nxdomain|name resolution|(?:could not|cannot|couldn't) resolve|eai_again|unknown host",
     "a host name cannot be resolved", "correct the name or the DNS record"),
    (Topic.LOCKS, r"deadlock|lock wait|could not obtain lock|lock timeout",
     "transactions block each other with locks", "find the transaction that holds the lock"),
    (Topic.FILES, r"too many open files|emfile",
     "too many files are open", "find the leak of file handles, or raise their limit"),
    (Topic.CONFIGURATION,
     (r"couldn't find key|(?:invalid|malformed) (?:value|config\w*|setting)|"
      r"(?:missing|required|undefined|unknown)\b.*\b(?:key|variable|setting|option|env\w*|config\w*|parameter)|"
      r"(?:key|variable|setting|option|parameter)\b.*\b(?:missing|not set|undefined|required|not found)"),
     "the configuration lacks a value that is needed, or holds one that cannot be used", "correct the configuration"),
    (Topic.STARTUP, r"migration\b.*\bfail|schema version",
     "a database migration failed", "repair the migration and let it run again"),
    (Topic.ACCESS,
     r"permission denied|access denied|unauthori[sz]ed|forbidden|\b40[13]\b|authentication failed|login failed",
     "a login or a permission is refused", "have the owners of that access look at it"),
    (Topic.DEPENDENCY,
     (r"connection (?:refused|reset|failure|timed out)|upstream|timed? ?out|unreachable|no route to host|"
      rf"unavailable|{_BAD_STATUS}|bad gateway|connect error|no healthy"),
     "something that it depends on does not answer", "look at what it calls"),
)  # fmt: skip
FAMILIES = tuple(Family(topic, re.compile(pattern, re.IGNORECASE), *told) for topic, pattern, *told in _ROWS)
"""In order: more informative ones come first."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A line that reports trouble, how often it occurred, and its family."""

    line: str
    count: int
    family: Family | None

    @property
    def is_grave(self) -> bool:
        """Whether it reports something that ended or failed, not just a warning."""
        return _is_grave(self.line)

    @property
    def is_direct(self) -> bool:
        """Whether it says what is wrong here, rather than elsewhere."""
        return self.family is not None and self.family.topic is not Topic.DEPENDENCY


def telling_lines(lines: Iterable[str]) -> tuple[Telling, ...]:
    """The lines that report trouble, without repetitions: those that name it before others, frequent ones first."""
    kept: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in (line[:_LONGEST] for line in lines):
        if _tells_of_trouble(line):
            alike = _NUMBERS.sub("0", line)
            kept.setdefault(alike, line)
            counts[alike] += 1
    found = [Telling(kept[alike], count, family_of(kept[alike])) for alike, count in counts.items()]
    return tuple(sorted(found, key=lambda one: (_rank(one.family), not _is_grave(one.line), -one.count)))


def family_of(text: str) -> Family | None:
    """The first family that a text belongs to."""
    return next((family for family in FAMILIES if family.pattern.search(text)), None)


def _tells_of_trouble(line: str) -> bool:
    level = _LEVEL.search(line)
    word = level[1].lower() if level else ""
    if word in _CHATTER:
        return False
    return bool(word) or _TROUBLE.search(line) is not None or _rank(family_of(line)) == 0


def _is_grave(line: str) -> bool:
    level = _LEVEL.search(line)
    return _ENDS.search(line) is not None if level is None else level[1].lower() in _GRAVE


def _rank(family: Family | None) -> int:
    """Families in three groups: what is wrong here, what is not known, and what is wrong elsewhere."""
    if family is None:
        return 1
    return 2 if family.topic is Topic.DEPENDENCY else 0
