"""Creation times of what was there before the first client: drawn from the seed, in a sensible order.

Nodes and the system's own objects are as old as the cluster, namespaces come before their contents, and owners before
what they made.
"""

import zlib
from calendar import timegm
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_LEAST_DAYS, _MOST_DAYS = 45, 300
"""The age of clusters in days: enough for a history, and less than the year for which kubeadm issues certificates."""
_DAY, _HOUR = 86_400, 3_600
_QUIET = 26 * _HOUR
"""Seconds before the first client in which nothing long-lived was set up."""
_SETTING_UP = 40 * 60
"""Seconds that it took to bring up the nodes and what the system itself needs."""
_SPREAD = 2_654_435_761
_MADE_WITH = {"endpoints": "service", "pdb": "deployment", "hpa": "deployment", "rolebinding": "role"}
"""What is usually made together with an object of the same name."""
_OF_THE_SYSTEM = frozenset({"node", "clusterrole", "clusterrolebinding", "priorityclass", "storageclass", "lease"})


class History:
    """The past of one cluster; the same draw and start give the same times."""

    def __init__(self, draw: int, start: float) -> None:
        self._draw = draw & 0xFFFFFFFF
        self._start = int(start)
        days = _LEAST_DAYS + draw % (_MOST_DAYS - _LEAST_DAYS)
        self._founded = self._start - days * _DAY - (draw >> 16) % _DAY
        self._half = (self._start - self._founded) // 2 - _SETTING_UP
        self._namespaces = {name: self._founded + index // 3 for index, name in enumerate(SYSTEM_NAMESPACES)}
        self.founding = stamp(self._founded)
        """When the cluster was made: objects of the past without a time of their own are dated to it."""

    @property
    def start(self) -> int:
        """The earliest time at which a client can connect, in seconds since 1970."""
        return self._start

    @property
    def age(self) -> int:
        """The age of the cluster in seconds at the start."""
        return self._start - self._founded

    def before_start(self, seconds: int) -> str:
        """The time this number of seconds before the first client."""
        return stamp(self._start - seconds)

    def version_at(self, seconds: int, now: int) -> int:
        """The resource version reached at a time, given that it has since reached `now`."""
        return 1 + now * (seconds - self._founded) // self.age

    def birth(self, noun: str, metadata: Mapping[str, Any], owner: Mapping[str, Any] | None) -> int:
        """When an object that predates the first client was made, in seconds since 1970."""
        name, place = metadata["name"], metadata.get("namespace") or ""
        if noun == "namespace":
            return self._namespace(name)
        earliest = self._namespace(place) if place else self._founded + _SETTING_UP
        if name == "default" and noun == "serviceaccount":
            return earliest + 1
        draw = self._drawn_number(_MADE_WITH.get(noun, noun), name)
        if owner is not None:
            return self._after(seconds_of(owner["metadata"]["creationTimestamp"]), noun, draw)
        if noun == "job":
            return self._start - _HOUR - draw % (20 * _HOUR)
        if noun in _OF_THE_SYSTEM or place in SYSTEM_NAMESPACES:
            return self._founded + 20 + draw % _SETTING_UP
        return earliest + 30 + draw % max(1, self._start - _QUIET - earliest)

    def _after(self, made: int, noun: str, draw: int) -> int:
        """Controllers act within seconds; one pod in four was replaced later."""
        span = self._start - _HOUR - made
        if noun == "pod" and draw % 4 == 0 and span > 0:
            return made + draw % span
        return made + 1 + draw % 3

    def _namespace(self, name: str) -> int:
        """The system's namespaces come with the cluster, all others in the first half of its life."""
        if name not in self._namespaces:
            self._namespaces[name] = self._founded + _SETTING_UP + self._drawn_number("namespace", name) % self._half
        return self._namespaces[name]

    def _drawn_number(self, noun: str, name: str) -> int:
        """A number for an object; a checksum will do, since anyone who knows the seed can compute everything."""
        return zlib.crc32(f"{noun}/{name}".encode(), self._draw) * _SPREAD >> 8 & 0xFFFFFFFF


def stamp(seconds: int) -> str:
    """A time, in seconds since 1970, in the form that objects carry."""
    days, rest = divmod(seconds, _DAY)
    minutes, second = divmod(rest, 60)
    return f"{_date(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}Z"


@lru_cache(1024)
def _date(days: int) -> str:
    """The date this number of days after 1 January 1970, computed here because the state layer reads no clock.

    Years begin in March, so that a leap day is the last one of its year.
    """
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    rest = day - (365 * year + year // 4 - year // 100)
    month = (5 * rest + 2) // 153
    number = month + 3 if month < 10 else month - 9
    return f"{year + 400 * era + (number < 3):04}-{number:02}-{rest - (153 * month + 2) // 5 + 1:02}"


def later_time(time: str, seconds: int) -> str:
    """The time this number of seconds after a time that an object carries."""
    return stamp(seconds_of(time) + seconds)


@lru_cache(4096)
def seconds_of(time: str) -> int:
    """A time that an object carries, in seconds since 1970."""
    return timegm((*map(int, (time[:4], time[5:7], time[8:10], time[11:13], time[14:16], time[17:19])), 0, 0, 0))
