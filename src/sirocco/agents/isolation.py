"""Levels of isolation: what a user may ask for, what there is on which system, and what each keeps from an agent.

The tables here are those of docs/agents.md, and every cell of them is a test (tests/end_to_end/test_isolation.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What `--isolation` takes."""

    AUTO = "auto"
    NETWORK = "network"
    UID = "uid"
    PROCESS = "process"
    NONE = "none"


class Secret(StrEnum):
    """What an agent has no business with."""

    ENVIRONMENT = "runner's environment variables"
    COMMAND_LINE = "runner's command line"
    RUN_DIRECTORY = "run directory"
    CORPUS = "corpus and profile"
    KEY = "reserved bundles and keys"
    PRIVATE_FILES = "files closed to others"


EVERYTHING = frozenset(Secret)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One way to keep a child process apart, and what is promised, and proven before a run, when it is used."""

    name: str
    isolation: str
    """What a report says."""
    holds: frozenset[Secret]
    is_enclosed: bool = False
    """In namespaces."""
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
SHIELDED = Mechanism("a process of its own", "process", frozenset({Secret.ENVIRONMENT, Secret.COMMAND_LINE}))
"""On Linux, where a process can close its variables to others of its account, and take back its command line."""
PROCESS = Mechanism("a process of its own", "process", frozenset())
NOTHING = Mechanism("nothing", "none", frozenset())


def mechanisms(platform: str, *, is_root: bool) -> tuple[Mechanism, ...]:
    """What may hold on a system, the strongest first; root never runs an agent with its own rights."""
    if platform == "linux":
        return (SEALED_ACCOUNT, ACCOUNT) if is_root else (NAMESPACES, SHIELDED)
    return (ACCOUNT,) if is_root else (PROCESS,)


def candidates(level: Level, platform: str, *, is_root: bool) -> tuple[Mechanism, ...]:
    """The mechanisms by which a level for a child process can be reached, in the order in which they are tried."""
    known = mechanisms(platform, is_root=is_root)
    match level:
        case Level.AUTO:
            return known
        case Level.UID:
            return tuple(one for one in known if one.isolation == "process+uid")
        case Level.PROCESS:
            # For root all of them: a process of its own with the rights of root is no isolation at all.
            return known if is_root else known[-1:]
        case Level.NONE:
            return (NOTHING,)
        case _:
            return ()


class Holding(StrEnum):
    """How an adapter keeps a secret from its agent."""

    PROVEN = "by its level"
    """As far as the mechanism of the level promises; proven before the run."""
    REQUESTS = "requests only"
    """It gets nothing but requests; what else it can read is decided where it runs."""
    OPEN = "no"
    """It runs in the runner's own process."""


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
    """Each adapter, and what holds its agent back from each secret; nothing restricts the network of any of them."""
    header = ["adapter", *Secret, "network"]
    return [header, *([name, *([str(how)] * len(Secret)), "no"] for name, how in ADAPTERS.items())]


_PLACES = (
    ("Linux, root", "linux", True),
    ("Linux, ordinary user", "linux", False),
    ("macOS, root", "darwin", True),
    ("macOS, ordinary user", "darwin", False),
)


def mechanism_table() -> list[list[str]]:
    """What each mechanism holds, by the system and the account of the runner, the strongest first."""
    rows = [
        [place, one.name, one.isolation, *("yes" if secret in one.holds else "no" for secret in Secret)]
        for place, platform, is_root in _PLACES
        for one in mechanisms(platform, is_root=is_root)
    ]
    return [["runner", "held by", "reported", *Secret], *rows]
