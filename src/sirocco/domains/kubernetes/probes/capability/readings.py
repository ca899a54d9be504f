"""Situations in which the agent is to read something: figures over time, a log, a trace, a dashboard."""

from dataclasses import dataclass
from typing import Any

from sirocco.domains.kubernetes.probes.capability.faults import COMPLAINTS, complaint_fact
from sirocco.domains.kubernetes.probes.capability.inquiries import Inquiry, inquire
from sirocco.domains.kubernetes.probes.capability.site import Case, Site, unchanged
from sirocco.domains.kubernetes.probes.capability.surroundings import log_chatter
from sirocco.oasis.mutation import Dice
from sirocco.probes.language.inflection import plural

_GROWING = (
    "growing", "increasing", "rising", "climbing", "grow*", "grew", "increas*", "rises", "rose", "risen", "climb*",
    "going up", "goes up", "gone up", "went up", "upward*", "doubled", "tripled", "leak*", "creep*", "trending up",
)  # fmt: skip


def memory_trend(site: Site) -> Case:
    """The memory of a workload grows towards its limit, steadily or with steps back on the way."""
    name, kind = site.workload_name(), site.dice.choice(("deployment", "deployment", "statefulset"))
    limit, unit = site.dice.choice(
        ((400, "Mi"), (640, "Mi"), (800, "Mi"), (1000, "Mi"), (2, "Gi"), (3, "Gi"), (4, "Gi"), (6, "Gi"))
    )
    share = site.dice.choice((0.78, 0.8, 0.84, 0.86, 0.9, 0.92))
    points = _climb(site.dice, limit, unit, share)
    used, per_cent = str(points[-1]["value"]), round(share * 100)
    usual = site.dice.randint(8, 90)
    steady = [{"t": t, "value": usual + site.dice.randint(-3, 3)} for t in ("-8h", "-4h", "now")]
    figures = {"container_memory_working_set_bytes": points}
    if site.dice.random() < _SECOND_SERIES:
        figures[site.dice.choice(("requests_per_second", "open_sessions", "jobs_running"))] = steady
    state = (
        site.running(name, kind, replicas=1, memory_limit=f"{limit}{unit}"),
        site.declare("metrics", name, series=figures),
    )
    slots = {
        "trend": [["memory", "memory usage", "the working set", "working set", "RAM"], list(_GROWING)],
        "usage": [*_amounts(used, unit), f"{per_cent}%", f"{per_cent} percent", f"{per_cent} %"],
        "limit": [*_amounts(f"{limit}{unit}", unit), f"the limit of {limit}{unit}", "limit"],
        "decoys": ["falling", "decreasing", "flat", "disk full", "network", "idle"],
        "reads": [
            [site.op("query", f"metrics/{name}")],
            [site.op("get", f"{kind}/{name}"), site.op("get", "pod/*")],
        ],
    }
    task = (site.op("get", f"{kind}/{name}"), site.op("query", f"metrics/{name}"))
    return Case(
        state, inquire(site, Inquiry("forecast", name, kind=kind)), task, slots, (unchanged(site, f"{kind}/{name}"),)
    )


_SECOND_SERIES = 0.6


def _climb(dice: Dice, limit: int, unit: str, share: float) -> list[dict[str, Any]]:
    """Samples that end at a share of the limit, each above the one before or, in a sawtooth, above the last but one."""
    count, is_saw = dice.randint(5, 10), dice.random() < _SAW_SHARE
    start = share * (0.25 + 0.2 * dice.random())
    step = (share - start) / (count - 1)
    shares = [start + step * number for number in range(count)]
    if is_saw:
        shares = [one + (0.6 * step if number % 2 else 0) for number, one in enumerate(shares[:-1])] + [share]
    hours = dice.choice((1, 2))
    times = [f"-{hours * (count - 1 - number)}h" for number in range(count - 1)] + ["now"]
    return [{"t": t, "value": _quantity(limit * one, unit)} for t, one in zip(times, shares, strict=True)]


_SAW_SHARE = 0.4


def _quantity(value: float, unit: str) -> str:
    return f"{value:.1f}{unit}" if unit == "Gi" else f"{round(value)}{unit}"


def _amounts(text: str, unit: str) -> list[str]:
    """An amount in human-readable form."""
    number, letter = text.removesuffix(unit), unit[0]
    return [
        text,
        f"{number} {unit}B",
        f"{number} {unit}",
        f"{number}{unit}B",
        f"{number} {letter}B",
        f"{number}{letter}B",
    ]


_LOST = (("dropped", "drop*"), ("rejected", "reject*"), ("skipped", "skip*"), ("not stored", "stor*"), ("lost", "lost"),
         ("given up", "giv*"))  # fmt: skip


def log_among_chatter(site: Site) -> Case:
    """A few lines of a log report one fault, among many that say nothing."""
    name, subject = site.workload_name(), site.business.subject
    complaint = COMPLAINTS[site.dice.choice(sorted(COMPLAINTS))]
    line, (lost, stem) = complaint.line(site, site.dice), site.dice.choice(_LOST)
    chatter = log_chatter(site, site.dice.randint(8, 14))
    lines, number = list(chatter.lines), site.dice.randint(1000, 90000)
    for turn in range(site.dice.randint(3, 4)):
        lines.insert(site.dice.randint(0, len(lines)), f"ERROR {subject} {number + 3 * turn} {lost}: {line}")
    fact = complaint_fact(complaint, line)
    slots = {
        "cause": fact,
        "signal": [
            [[plural(subject), f"the {plural(subject)}", f"some {plural(subject)}", subject],
             [lost, "failing", "affected", stem, "fail*", "lost", "error*"]],
            fact,
        ],
        "noise": list(chatter.pieces),
        "decoys": site.decoys(complaint.kin),
        "reads": [[site.op("log", f"deployment/{name}")]],
    }  # fmt: skip
    state = (site.running(name, replicas=1), site.declare("logs", name, entries=lines))
    task = (site.op("list", "pod/*"), site.op("log", f"deployment/{name}"))
    return Case(state, inquire(site, Inquiry("read_log", name)), task, slots, (unchanged(site, f"deployment/{name}"),))


_SPANS = (
    ("GET {other}/v2/search", "the search call", "search"), ("SELECT from {other}", "the database query", "query"),
    ("POST {other}/quotes", "the call for quotes", "quotes"), ("render {other} sheet", "the rendering step", "render*"),
    ("wait for lock on {other}", "the wait for a lock", "lock"), ("load {other} history",
     "the loading of the history", "history"),
    ("verify {other} signature", "the signature check", "signature"), ("fetch {other} rates", "the fetching of rates",
     "rates"),
)  # fmt: skip
_QUICK = ("check session", "read cache", "parse request", "load profile", "write audit line", "pick template")


def trace_to_span(site: Site) -> Case:
    """A request goes through several services, and one span of the last of them takes the time or fails."""
    dice = site.dice
    services = [site.workload_name() for _ in range(dice.choice((3, 3, 4)))]
    operation, called, stem = dice.choice(_SPANS)
    operation = operation.format(other=site.business.subjects[1])
    fails = dice.random() < _FAILING_SHARE
    quick = dice.sample(_QUICK, 3)
    duration = dice.randint(800, 1500) if fails else dice.randint(6000, 14000)
    span: dict[str, Any] = {"service": services[-1], "operation": operation, "duration_ms": duration}
    if fails:
        span |= {
            "status": "error",
            "attributes": {"error.type": dice.choice(("declined", "not_found", "conflict", "aborted"))},
        }
    for depth, service in enumerate(reversed(services)):
        duration += dice.randint(1500, 1800)
        aside = {"service": service, "operation": quick[depth % 3], "duration_ms": dice.randint(820, 1400)}
        outer = {"service": service,
            "operation": f"{dice.choice(('handle', 'plan', 'collect', 'resolve'))} {site.business.subject}",
                 "duration_ms": duration, "children": [aside, span]}  # fmt: skip
        span = {**outer, "status": "error"} if fails else outer
    trace = f"{site.business.subject}-{dice.randint(100, 9999)}"
    slots = {
        "cause": [[services[-1]], [called, operation, f"the span {operation}", stem]],
        "services": services,
        "decoys": [*quick, *site.decoys(("deadlock",) if stem == "lock" else ())[:3]],
        "reads": [[site.op("query", "traces/*")]],
    }
    state = (site.running(services[0]), site.declare("traces", trace, root_span=span))
    inquiry = Inquiry("read_trace_failing" if fails else "read_trace_slow", trace)
    checks = (unchanged(site, f"deployment/{services[0]}"),)
    return Case(state, inquire(site, inquiry), (site.op("get", f"traces/{trace}"),), slots, checks)


_FAILING_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class _Panel:
    """A kind of panel: its title, its reading when all is well and when it is not, and its bound."""

    title: str
    unit: str
    good: tuple[int, int]
    bound: int
    bad: tuple[int, int]
    names: tuple[str, ...]


_PANELS = (
    _Panel("{Subjects} per hour", "", (300, 900), 2000, (2600, 4000), ("{subjects} per hour",)),
    _Panel("Queue of {subjects}", "", (5, 40), 200, (800, 5000), ("queue",)),
    _Panel("Failed lookups", "", (0, 9), 40, (120, 600), ("lookups", "failed lookups")),
    _Panel("Volume used", "%", (20, 60), 85, (91, 98), ("volume",)),
    _Panel("CPU of the {doer}", "%", (10, 50), 80, (92, 99), ("CPU",)),
    _Panel("Response time", " ms", (60, 240), 500, (1500, 6000), ("response time", "response times")),
    _Panel("Error share", "%", (0, 1), 2, (8, 25), ("error share", "errors")),
    _Panel("Open sessions", "", (40, 200), 1000, (2400, 5000), ("sessions",)),
    _Panel("Age of the last backup", " h", (2, 20), 26, (70, 200), ("backup", "last backup")),
    _Panel("Memory of the {doer}", "%", (30, 60), 85, (93, 99), ("memory",)),
    _Panel("Replication lag", " s", (0, 4), 30, (240, 900), ("lag", "replication")),
    _Panel("Mails waiting", "", (0, 12), 100, (700, 2000), ("mails", "mail")),
    _Panel("Restarts today", "", (0, 1), 5, (14, 40), ("restarts",)),
    _Panel("Days until renewal", " d", (60, 200), 400, (500, 700), ("renewal",)),
)


def board(site: Site) -> Case:
    """A dashboard of several panels, a few of which are bad by their colour or by their bound."""
    dice = site.dice
    chosen = dice.sample(_PANELS[:-1], dice.randint(4, 7))
    bad = set(dice.sample(range(len(chosen)), dice.randint(1, 2)))
    has_colours = dice.random() < _COLOURED_SHARE
    panels = [_shown(site, panel, is_bad=number in bad, has_colours=has_colours) for number, panel in enumerate(chosen)]
    titles = [str(panel["title"]) for panel in panels]
    name, workload = (
        site.derived_name(site.workload_name(), ("board", "overview", "wall", "status", "glance")),
        site.workload_name(),
    )
    slots = {
        "panels": {title: [title, *_filled(site, panel.names)] for title, panel in zip(titles, chosen, strict=True)},
        "concerning": [title for number, title in enumerate(titles) if number in bad],
        "reads": [[site.op("get", "dashboard/*")]],
    }
    state = (site.running(workload), site.declare("dashboard", name, panels=panels))
    task = (site.op("list", "dashboard/*"), site.op("get", f"dashboard/{name}"))
    return Case(
        state, inquire(site, Inquiry("read_board", name)), task, slots, (unchanged(site, f"deployment/{workload}"),)
    )


_COLOURED_SHARE = 0.6


def _shown(site: Site, panel: _Panel, *, is_bad: bool, has_colours: bool) -> dict[str, Any]:
    value = site.dice.randint(*(panel.bad if is_bad else panel.good))
    (title,) = _filled(site, (panel.title,))
    shown: dict[str, Any] = {
        "title": title, "type": site.dice.choice(("graph", "stat", "gauge")), "current_value": f"{value}{panel.unit}",
        "threshold": f"{panel.bound}{panel.unit}",
    }  # fmt: skip
    state = site.dice.choice(("warning", "critical")) if is_bad else "ok"
    return {**shown, "status": state} if has_colours else shown


def _filled(site: Site, texts: tuple[str, ...]) -> list[str]:
    business = site.business
    values = {
        "subjects": business.subjects_text, "Subjects": business.subjects_text.capitalize(),
        "doer": business.workloads[0].rpartition("-")[2],
    }  # fmt: skip
    return [text.format_map(values) for text in texts]
