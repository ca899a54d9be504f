"""Programs: what a container starts, judging by its image and its command line.

Nothing runs here. Images are distinguished by name, and a few commands are known to do nothing but wait or exit.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sirocco.domains.kubernetes.evaluation.preservation.world import items_in

_NO_DIGEST = re.compile(r"@sha256:(.)\1{63}\Z")
LONG_SECONDS = 3600
"""A container that answers or exits no sooner keeps its pod from serving for the whole observed time."""
_RESERVED_HOSTS = (
    ".invalid",
    ".test",
    ".example",
    ".localhost",
    "localhost",
    "example.com",
    "example.org",
    "example.net",
)
"""Names that no registry can have (RFC 2606)."""
_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh", "busybox", "env", "nohup", "exec", "timeout", "nice", "tini"})
_NO_WORK = frozenset(
    {"sleep", "true", "false", ":", "exit", "tail", "pause", "yes", "cat", "echo", "kill", "wait", "read"}
)
_FAILING = frozenset({"false", "exit"})
_ONLY_TELLS = frozenset({"--version", "--help", "-version", "-help"})
"""Arguments with which a program prints information about itself and exits."""


def unpullable_source(image: str) -> str | None:
    """Why an image cannot be pulled: its source is reserved for what does not exist, or its digest is of nothing."""
    if _NO_DIGEST.search(image):
        return image.rpartition("@")[2]
    host = image.partition("/")[0] if "/" in image else ""
    bare = host.partition(":")[0].lower()
    return host if bare and ("." in bare or ":" in host) and bare.endswith(_RESERVED_HOSTS) else None


def command_line(container: Mapping[str, Any]) -> list[str]:
    """The command line that a container gives, as far as it gives one itself."""
    return [str(one) for part in ("command", "args") for one in items_in(container.get(part))]


def _programs(words: Sequence[str]) -> list[list[str]]:
    """The commands in a command line, those of a shell's script one by one."""
    rest = list(words)
    while rest and (_base(rest[0]) in _SHELLS or "=" in rest[0].split("/")[0]):
        name = _base(rest.pop(0))
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        if name == "timeout" and rest:
            rest.pop(0)
        if name in {"sh", "bash", "ash", "dash", "zsh"} and rest:
            return [part for line in _lines(rest[0]) for part in _programs(line)]
    return [rest] if rest else []


def _lines(script: str) -> list[list[str]]:
    """The simple commands of a shell script, roughly parsed: enough to tell work from waiting."""
    found = []
    for part in re.split(r"[;\n|&()]+", script[:_SCRIPT]):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        words = [word for word in words if word not in _SHELL_WORDS]
        if words:
            found.append(words)
    return found


_SCRIPT = 4000
_SHELL_WORDS = frozenset({"while", "do", "done", "if", "then", "else", "fi", "until", "for", "!", "{", "}"})


def _base(word: str) -> str:
    return word.rpartition("/")[2]


def _is_idle(words: Sequence[str]) -> bool:
    """Whether a command line does nothing but wait or exit."""
    programs = _programs(words)
    return bool(programs) and all(_base(one[0]) in _NO_WORK for one in programs)


def always_fails(words: Sequence[str]) -> bool:
    """Whether a command line always ends with an error."""
    programs = _programs(words)
    last = programs[-1] if programs else []
    return bool(last) and _base(last[0]) in _FAILING and last[1:2] != ["0"]


def why_it_hangs(words: Sequence[str]) -> str | None:
    """Why a command line that has to exit successfully never does."""
    if not _is_idle(words):
        return None
    if always_fails(words):
        return "always fails"
    for program in _programs(words):
        name, *rest = program
        endless = _base(name) in {"pause", "yes"} or (_base(name) == "tail" and "-f" in " ".join(rest))
        if endless or (_base(name) == "sleep" and _seconds(rest) >= LONG_SECONDS):
            return "never ends"
    looping = any(word in {"while", "until"} for text in words for word in text[:_SCRIPT].split())
    return "never ends" if looping else None


def _seconds(words: Sequence[str]) -> float:
    factors = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    total = 0.0
    for word in words:
        if word.lower().startswith("inf"):
            return float("inf")
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)([smhd]?)", word)
        total += float(found[1]) * factors.get(found[2], 1.0) if found else 0.0
    return total


def image_name(image: str) -> str:
    """The name of an image, without registry and version."""
    return _base(image.partition("@")[0]).partition(":")[0]


def is_same_command(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a container still starts the same program; further arguments are ignored."""
    old, new = command_line(before), command_line(now)
    if old == new:
        return True
    if new and set(new[-1:]) <= _ONLY_TELLS and not set(old) & _ONLY_TELLS:
        return False
    if _is_idle(new):
        return _is_idle(old)
    if items_in(before.get("command")) == items_in(now.get("command")):
        return True
    if not items_in(now.get("command")):
        return not items_in(before.get("command")) or _names_entry(_programs(old), before)
    programs = {_base(one[0]) for one in _programs(old)}
    started = {_base(word) for one in _programs(new) for word in one}
    return bool(programs & started) if programs else _names_entry(_programs(new), before)


def _names_entry(programs: Sequence[Sequence[str]], container: Mapping[str, Any]) -> bool:
    """Whether a command line starts the main program of the image, judging by names."""
    names = {image_name(str(container.get("image") or "")), str(container.get("name")), "entrypoint"}
    words = [_base(word).lower() for one in programs for word in one]
    return any(name and name.lower() in word for name in names for word in words)
