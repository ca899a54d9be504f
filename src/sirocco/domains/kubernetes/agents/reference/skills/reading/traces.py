"""Reading traces: the way of a request from service to service, down to the span in which its time is spent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_SHARE = 0.5
"""A call that takes this part of its caller's time is what the caller waits for."""
_HELD = ("active", "used", "in_use", "current", "open")
_ALLOWED = ("max", "limit", "size", "capacity", "total")


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work in a request."""

    id: str
    parent: str | None
    service: str
    operation: str
    milliseconds: float
    tags: Mapping[str, Any]

    @property
    def has_failed(self) -> bool:
        """Whether the span is marked as an error."""
        return self.tags.get("error") is True or self.tags.get("otel.status_code") == "ERROR"

    def exhausted(self) -> tuple[str, str] | None:
        """Something of which all that there may be is in use, by its tags: what it is, and how much."""
        for key, held in self.tags.items():
            stem, _, last = key.rpartition(".")
            if last in _HELD:
                limits = [self.tags[f"{stem}.{word}"] for word in _ALLOWED if f"{stem}.{word}" in self.tags]
                if limits and held == limits[0]:
                    return stem, f"{held} of {limits[0]}"
        return None


@dataclass(frozen=True, slots=True)
class Route:
    """The way from the first span of a trace to the one that takes most of its time."""

    trace: str
    spans: tuple[Span, ...]

    @property
    def whole(self) -> Span:
        """The first span, which is the whole request."""
        return self.spans[0]

    @property
    def bottleneck(self) -> Span:
        """The last span."""
        return self.spans[-1]

    @property
    def services(self) -> tuple[str, ...]:
        """The services on the way, each once."""
        return tuple(dict.fromkeys(span.service for span in self.spans))

    @property
    def share(self) -> int:
        """How much of the request's time the last span takes, in percent."""
        return round(100 * self.bottleneck.milliseconds / (self.whole.milliseconds or 1))

    @property
    def path(self) -> str:
        """The way through the services, in a sentence; empty where there is only one."""
        return f"The trace leads from {' to '.join(self.services)}. " if len(self.services) > 1 else ""

    def told(self) -> str:
        """Where the time goes, in a sentence."""
        last, path = self.bottleneck, self.path
        failed = ", and it ends in an error" if last.has_failed else ""
        return (
            f'{path}The time is spent in {last.service}: the span "{last.operation}" takes {last.milliseconds:.0f} of '
            f"{self.whole.milliseconds:.0f} ms ({self.share}%){failed}."
        )


def routes(contents: Iterable[Any], *, to_errors: bool = False) -> tuple[Route, ...]:
    """One route for each trace, the slowest first; a trace that was returned several times counts once.

    It leads to where the time is spent or, when that is what matters, along spans that failed to the last of them.
    """
    found: dict[str, Route] = {}
    for content in contents:
        spans = _spans(content)
        roots = [span for span in spans if span.parent is None]
        if roots:
            first = max(roots, key=lambda span: span.milliseconds)
            found[str(content.get("traceID", ""))] = Route(
                str(content.get("traceID", "")), _way(first, spans, to_errors=to_errors)
            )
    return tuple(sorted(found.values(), key=lambda route: -route.whole.milliseconds))


def _way(first: Span, spans: tuple[Span, ...], *, to_errors: bool) -> tuple[Span, ...]:
    way = [first]
    while True:
        called = [span for span in spans if span.parent == way[-1].id and span not in way]
        failed = [span for span in called if span.has_failed]
        longest = max((failed if to_errors else called), key=lambda span: span.milliseconds, default=None)
        if longest is None or (not to_errors and longest.milliseconds < _SHARE * way[-1].milliseconds):
            return tuple(way)
        way.append(longest)


def _spans(content: Any) -> tuple[Span, ...]:
    if not isinstance(content, Mapping):
        return ()
    processes = content.get("processes") or {}
    return tuple(
        Span(
            id=str(span.get("spanID", "")),
            parent=next((str(one.get("spanID")) for one in span.get("references") or ()), None),
            service=str((processes.get(span.get("processID")) or {}).get("serviceName", "")),
            operation=str(span.get("operationName", "")),
            milliseconds=float(span.get("duration", 0)) / 1000,
            tags={str(tag.get("key")): tag.get("value") for tag in span.get("tags") or ()},
        )
        for span in content.get("spans") or ()
    )
