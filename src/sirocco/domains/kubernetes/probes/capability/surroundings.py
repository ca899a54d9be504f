"""The surroundings of a case: chatter in logs, figures over time, and unrelated objects."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.probes.capability.site import Site
from sirocco.oasis.scenario_draft import Declared
from sirocco.probes.language.acts import Remark, TextPlan, Thing
from sirocco.probes.language.inflection import plural
from sirocco.probes.language.rendering import render_text


@dataclass(frozen=True, slots=True)
class Chatter:
    """Lines of a log that say nothing, with the part of each that stays the same."""

    lines: list[str]
    pieces: tuple[str, ...]


_LEVELS = ("INFO", "DEBUG", "INFO", "TRACE")


def log_chatter(site: Site, count: int) -> Chatter:
    """This many lines of a program at work."""
    said = Remark("chatter", Thing("deployment"))
    plan = TextPlan("bare", (said,), register="log", trade=site.business.trade, one_line=True)
    texts = [render_text(plan, site.material, site.dice).text.rstrip(".") for _ in range(count)]
    lines = [f"{site.dice.choice(_LEVELS)} {text}" for text in texts]
    return Chatter(lines, tuple(sorted({_fixed_piece(text) for text in texts})))


def _fixed_piece(text: str) -> str:
    """The longest part of a line between its figures."""
    return max((piece.strip(" :,./") for piece in re.split(r"\b\w*\d\w*\b", text)), key=len)


@dataclass(frozen=True, slots=True)
class Rising:
    """A series that went bad: its samples, its everyday name, and its place."""

    points: list[dict[str, str | int]]
    called: str
    now: str


_METRICS: Mapping[str, tuple[str, tuple[float, float], tuple[float, float], str]] = {
    "response_time_ms": ("the response time", (60, 180), (8, 22), ""),
    "error_rate": ("the error rate", (0.1, 0.5), (25, 60), "%"),
    "queue_length": ("the queue", (40, 260), (12, 30), ""),
    "failed_writes": ("the number of failed writes", (1, 3), (40, 120), ""),
}
"""For each metric its everyday name, its usual range, by how much it rises, and its unit."""


def series(site: Site, metric: str, since: int = 0) -> Rising:
    """Samples that rose some minutes ago, and have not come down."""
    dice = site.dice
    called, (low, high), (least, most), unit = _METRICS[metric]
    usual, factor = low + (high - low) * dice.random(), least + (most - least) * dice.random()
    since = since or dice.randint(30, 70)
    before = [f"-{since + back}m" for back in (dice.randint(160, 220), dice.randint(70, 120), dice.randint(6, 25))]
    after = [f"-{max(1, since - dice.randint(4, 9))}m", f"-{max(1, since // 2)}m", "now"]
    shares = [0.6 + 0.2 * number for number in range(len(after))]
    points: list[dict[str, str | int]] = [
        {"t": t, "value": _amount(usual * (0.9 + 0.2 * dice.random()), unit)} for t in before
    ]
    points += [{"t": t, "value": _amount(usual * factor * share, unit)} for t, share in zip(after, shares, strict=True)]
    return Rising(points, called, str(points[-1]["value"]))


def _amount(value: float, unit: str) -> str | int:
    return f"{value:.1f}{unit}" if unit else round(value)


Maker = Callable[[Site], tuple[Declared, ...]]


def _named(site: Site, *endings: str) -> str:
    return site.derived_name(site.workload_name(), endings)


def _settings(site: Site) -> tuple[Declared, ...]:
    subject = site.business.subjects[site.dice.randint(1, 3)]
    data = {
        f"{subject.upper()}_{end}": str(site.dice.randint(2, 90))
        for end in site.dice.sample(("LIMIT", "SIZE", "DAYS"), 2)
    }
    return (site.declare("configmap", _named(site, "settings", "options", "defaults"), data=data),)


def _workload(site: Site) -> tuple[Declared, ...]:
    return (site.running(site.workload_name()),)


def _store(site: Site) -> tuple[Declared, ...]:
    claim = _named(site, "data", "files", "volume")
    return (
        site.running(site.workload_name(), "statefulset", replicas=1, volumes=[claim]),
        site.declare("pvc", claim, storage=f"{site.dice.choice((5, 10, 20, 50))}Gi", status="bound"),
    )


def _served(site: Site) -> tuple[Declared, ...]:
    name = site.workload_name()
    return (site.running(name), site.declare("service", name, port=site.dice.choice((8080, 8000, 9000, 7000))))


def _scheduled(site: Site) -> tuple[Declared, ...]:
    name = _named(site, "cleanup", "digest", "rollup", "sync")
    schedule = f"{site.dice.randint(0, 59)} {site.dice.randint(0, 23)} * * {site.dice.choice(('*', '1', '1-5', '0'))}"
    return (site.declare("cronjob", name, schedule=schedule, image=site.image(name, site.version())),)


def _batch(site: Site) -> tuple[Declared, ...]:
    name = _named(site, "import", "backfill", "migrate")
    return (
        site.declare(
            "job", name, status=site.dice.choice(("complete", "running")), image=site.image(name, site.version())
        ),
    )


def _autoscaled(site: Site) -> tuple[Declared, ...]:
    name, least = site.workload_name(), site.dice.randint(1, 3)
    scaler = site.declare(
        "hpa", name, target=f"deployment/{name}", min_replicas=least, max_replicas=least + site.dice.randint(2, 6)
    )
    return (site.running(name, replicas=least), scaler)


def _guarded(site: Site) -> tuple[Declared, ...]:
    name = site.workload_name()
    return (site.running(name, replicas=3), site.declare("pdb", name, target=f"deployment/{name}", min_available=1))


def _alert(site: Site) -> tuple[Declared, ...]:
    subject = site.business.subjects[site.dice.randint(1, 3)]
    summary = site.dice.choice(
        ("Fewer {} than usual", "{} wait longer than a day", "Backlog of {} grows", "{} arrive twice")
    )
    return (
        site.declare("alert", _named(site, "backlog", "stale", "volume"), status=site.dice.choice(("inactive",
            "resolved")),
                     severity=site.dice.choice(("info", "warning")),
                         summary=summary.format(f"{subject} records").capitalize()),
    )  # fmt: skip


def _account(site: Site) -> tuple[Declared, ...]:
    return (site.declare("serviceaccount", _named(site, "runner", "reader", "bot")),)


def _quota(site: Site) -> tuple[Declared, ...]:
    return (
        site.declare("resourcequota", _named(site, "quota", "budget"), hard={"pods": str(site.dice.randint(40, 90))}),
    )


def _pipeline(site: Site) -> tuple[Declared, ...]:
    name = site.workload_name()
    return (
        site.declare("pipeline", name, status="success", ref=site.dice.choice(("main", "release", "trunk")),
                     commit=f"{site.dice.randrange(16**7):07x}", last_run=f"{site.dice.randint(2, 20)}_hours_ago"),
    )  # fmt: skip


def _claim(site: Site) -> tuple[Declared, ...]:
    size = f"{site.dice.choice((2, 4, 8, 16))}Gi"
    return (site.declare("pvc", _named(site, "scratch", "export", "spool"), storage=size, status="bound"),)


def _daemon(site: Site) -> tuple[Declared, ...]:
    name = _named(site, "agent", "collector", "shipper")
    return (site.declare("daemonset", name, status="running", image=site.image(name, site.version())),)


def _application(site: Site) -> tuple[Declared, ...]:
    name, revision = _named(site, "delivery", "rollout"), f"{site.dice.randrange(16**7):07x}"
    return (site.declare("gitops-application", name, sync_status="synced", health="healthy", revision=revision),)


def _dashboard(site: Site) -> tuple[Declared, ...]:
    title = plural(site.dice.choice(site.business.subjects)).capitalize()
    return (site.declare("dashboard", _named(site, "history", "capacity"), title=f"{title} per week", panels=[title]),)


def _limits(site: Site) -> tuple[Declared, ...]:
    limits = [{"type": "Container", "default": {"memory": f"{site.dice.choice((256, 512, 768))}Mi"}}]
    return (site.declare("limitrange", _named(site, "defaults", "bounds"), limits=limits),)


_BYSTANDERS: Sequence[Maker] = (
    _settings, _settings, _workload, _workload, _store, _served, _scheduled, _batch, _autoscaled, _guarded, _alert,
    _account, _pipeline, _claim, _application, _dashboard,
)  # fmt: skip


def draw_bystanders(site: Site, taken: Sequence[Declared], number: int) -> tuple[Declared, ...]:
    """About this many objects that have nothing to do with the matter; none is declared twice."""
    makers = [site.dice.choice(_BYSTANDERS) for _ in range(number)]
    known: set[Any] = {one.resource for one in taken}
    found = [entry for make in makers for entry in make(site)]
    return tuple(entry for entry in found if entry.resource not in known)
