"""Levels of isolation: those that users can request, the mechanisms of each system, and what these keep from an agent.

The tables here are those of docs/agents.md, and every cell of them is a test (tests/end_to_end/test_isolation.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The values of `--isolation`."""

    AUTO = "auto"
    NETWORK = "network"
    UID = "uid"
    PROCESS = "process"
    NONE = "none"


class Secret(StrEnum):
    """What an agent must not see."""

    ENVIRONMENT = "runner's environment variables"
    COMMAND_LINE = "runner's command line"
    RUN_DIRECTORY = "run directory"
    CORPUS = "corpus and profile"
    KEY = "reserved bundles and keys"
    PRIVATE_FILES = "files closed to others"


EVERYTHING = frozenset(Secret)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One way to isolate a child process, and the secrets that it keeps, which is proven before a run that uses it."""

    name: str
    isolation: str
    """The level that reports state."""
    holds: frozenset[Secret]
    is_enclosed: bool = False
    """Whether it uses namespaces."""
    has_account: bool = False


SEALED_ACCOUNT = Mechanism(
    "namespaces and the account nobody", "process+uid", EVERYTHING, is_enclosed=True, has_account=True
)
NAMESPACES = Mechanism("namespaces", "process+uid", EVERYTHING, is_enclosed=True)
ACCOUNT = Mechanism(
    "the account nobody",
    "process+uid",
    frozenset({Secret.ENVIRONMENT, Secret.COMMAND_LINE, Secret.RUN_DIRECTORY, Secret.PRIVATE_FILES}),
    has_account=True,
)
SHIELDED = Mechanism("a separate process", "process", frozenset({Secret.ENVIRONMENT, Secret.COMMAND_LINE}))
"""On Linux, a process can hide its variables from others of its account, and clear its command line."""
PROCESS = Mechanism("a separate process", "process", frozenset())
NOTHING = Mechanism("nothing", "none", frozenset())


def mechanisms(platform: str, *, is_root: bool) -> tuple[Mechanism, ...]:
    """The mechanisms that may work on a system, strongest first; root never runs an agent with its own rights."""
    if platform == "linux":
        return (SEALED_ACCOUNT, ACCOUNT) if is_root else (NAMESPACES, SHIELDED)
    return (ACCOUNT,) if is_root else (PROCESS,)


def candidates(level: Level, platform: str, *, is_root: bool) -> tuple[Mechanism, ...]:
    """The mechanisms that can provide a level for a child process, in the order in which they are tried."""
    known = mechanisms(platform, is_root=is_root)
    match level:
        case Level.AUTO:
            return known
        case Level.UID:
            return tuple(one for one in known if one.isolation == "process+uid")
        case Level.PROCESS:
            # For root, all of them: a separate process with the rights of root is no isolation at all.
            return known if is_root else known[-1:]
        case Level.NONE:
            return (NOTHING,)
        case _:
            return ()


class Holding(StrEnum):
    """How an adapter keeps a secret from its agent."""

    PROVEN = "by its level"
    """To the extent of its mechanism's promise, which is proven before the run."""
    REQUESTS = "requests only"
    """It receives only requests; where it runs decides what else it can read."""
    OPEN = "no"
    """Not at all, because it runs in the runner's own process."""


ADAPTERS: Mapping[str, Holding] = {
    "http": Holding.REQUESTS,
    "cmd": Holding.PROVEN,
    "cmd+lines": Holding.PROVEN,
    "mcp:cmd": Holding.PROVEN,
    "mcp:URL": Holding.REQUESTS,
    "python": Holding.PROVEN,
    "model": Holding.REQUESTS,
    "ref": Holding.OPEN,
}


def adapter_table() -> list[list[str]]:
    """Each adapter, and how it keeps each secret from its agent; no adapter restricts the network."""
    header = ["adapter", *Secret, "network"]
    return [header, *([name, *([str(how)] * len(Secret)), "no"] for name, how in ADAPTERS.items())]


_PLACES = (
    ("Linux, root", "linux", True),
    ("Linux, ordinary user", "linux", False),
    ("macOS, root", "darwin", True),
    ("macOS, ordinary user", "darwin", False),
)


def mechanism_table() -> list[list[str]]:
    """The secrets that each mechanism keeps, by the system and the account of the runner, strongest first."""
    rows = [
        [place, one.name, one.isolation, *("yes" if secret in one.holds else "no" for secret in Secret)]
        for place, platform, is_root in _PLACES
        for one in mechanisms(platform, is_root=is_root)
    ]
    return [["runner", "held by", "reported", *Secret], *rows]
