"""Where a request loses its time, or where it fails: a question about a trace."""

import re

from sirocco.domains.kubernetes.agents.reference.skills.reading.quoting import Quoting, quoting
from sirocco.domains.kubernetes.agents.reference.skills.reading.traces import Route, routes
from sirocco.domains.kubernetes.agents.reference.skills.skill import Outcome, Situation
from sirocco.domains.kubernetes.agents.reference.understanding import Action

_TRACE = re.compile(r"\b(?:traces?|spans?|bottleneck|where (?:the|its) time (?:went|goes|is spent))\b", re.IGNORECASE)
_SLOW = re.compile(
    r"\b(?:slow\w*|times?|seconds?|minutes?|latency|long|takes?|took|bottleneck|late|delay\w*)\b", re.IGNORECASE
)
_QUERIES = ("db", "select", "sql", "insert", "update", "delete")
_TELLING_TAGS = re.compile(r"error\.|exception|status_code|peer\.name|retries|db\.statement", re.IGNORECASE)


async def follow_trace(situation: Situation) -> Outcome | None:
    """Follow a trace to the span that the others wait for, or in which the request fails."""
    if any(each.action is not Action.READ or each.asks_for_values for each in situation.asked):
        return None
    if not _TRACE.search(situation.prompt):
        return None
    contents = [signal.content for signal in situation.known.signals if signal.subject.kind == "traces"]
    failed = [route for route in routes(contents, to_errors=True) if route.whole.has_failed]
    found = failed if failed and not _SLOW.search(situation.prompt) else list(routes(contents))
    judge = quoting(situation.known)
    chosen = [route for route in found if _is_meant(route, situation.prompt)] or found[:1]
    told = [route for route in chosen if judge.quoted(route.bottleneck.operation)]
    if not told:
        return None
    reason = f"I followed the trace from {' to '.join(told[0].services)}."
    return Outcome(_sentences(told[0], judge, is_failure=found is failed), (reason,))


def _sentences(route: Route, judge: Quoting, *, is_failure: bool) -> tuple[str, ...]:
    last = route.bottleneck
    what = "query" if last.operation.lower().startswith(_QUERIES) else "call"
    advice = f"I recommend to look at that {what} in {last.service} first; I have changed nothing."
    if is_failure:
        tags = [f"{key}: {value}" for key, value in last.tags.items() if _TELLING_TAGS.search(key)]
        said = [tag for tag in tags if judge.quoted(tag) and "otel" not in tag]
        more = f" ({', '.join(said)})" if said else ""
        return (
            f'{route.path}The request fails in {last.service}: the span "{last.operation}" ends in an error{more}.',
            advice,
        )
    return (
        route.told(),
        f'The bottleneck is the {what} "{last.operation}" in {last.service}: the rest of the way waits for it.',
        advice,
    )


def _is_meant(route: Route, prompt: str) -> bool:
    """Whether the message names the trace, or a piece of its id of six characters or more."""
    words = re.findall(r"[0-9a-zA-Z-]{6,}", prompt)
    return any(word.lower() in route.trace.lower() for word in words)
