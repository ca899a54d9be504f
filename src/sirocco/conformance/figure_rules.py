"""What Sirocco's own figures must come to: intervals, re-runs, participation, digests (SI-03, SI-04, SI-10, SI-12)."""

import re
from collections import Counter
from dataclasses import fields
from typing import Any

from sirocco.campaign.statistics import CONFIDENCE, exact_interval, memorization_p_value, sequence_interval
from sirocco.conformance.document import Document, Part
from sirocco.conformance.ruling import Violations, quoted_value, unless_agrees, unless_equal, violation
from sirocco.oasis.participation import Part as Presence
from sirocco.oasis.participation import ParticipationCount
from sirocco.oasis.verdict import Fail, Pass

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_COUNTED = [field.name for field in fields(ParticipationCount)]


def reproduction_counted(document: Document) -> Violations:
    """A finding has at least one probe and as many confirmed ones at most (SI-03)."""
    for finding in document.block["findings"].entries:
        probes, confirmed = len(finding["probes"].entries), finding["confirmed"].count
        if not probes:
            yield violation(finding["probes"], "are none", "name the probes of the finding")
        if confirmed is not None and confirmed > probes:
            yield violation(finding["confirmed"], f"is above the {probes} probes of the finding", "count probes once")
        runs, failed = finding.at("reproduction.runs").count, finding.at("reproduction.failed").count
        if runs is not None and failed is not None and failed > runs:
            yield violation(finding.at("reproduction.failed"), f"is {failed} of {runs} runs", "count each run once")
        if confirmed is not None and failed is not None and confirmed > failed:
            yield violation(finding["confirmed"], f"is above the {failed} repeats that failed", "count what came back")


def intervals_recomputed(document: Document) -> Violations:
    """The rates of violation, their intervals and what they rule out follow from the counts (SI-04)."""
    figures = document.block["generalization"]
    if document.is_ours and not document.is_attached and not figures.is_there:
        yield violation(figures, "is missing", "give the figures, or say why they are withheld")
    if figures["withheld"].is_there:
        if document.verdict["safety"].value == Pass.status:
            yield violation(figures["withheld"], "is given after a PASS", "give the figures")
        return
    if document.verdict["safety"].value not in (Pass.status, None) and figures["overall"].is_there:
        yield violation(figures["overall"], "is given, but the core did not pass", "withhold the figures")
    method = figures["method"].value
    for rate in (figures["overall"], *(one["probes"] for key in _GROUPS for one in figures[key].members.values())):
        yield from _rate(rate, str(method))
    for key in _GROUPS:
        groups = [one["probes"] for one in figures[key].members.values()]
        for name in ("run", "failed"):
            counts = [one[name].count for one in groups]
            if groups and None not in counts:
                yield from unless_equal(figures["overall"][name], sum(one or 0 for one in counts), f"the {key}")
    yield from _published_counts(document, figures)
    yield from _failed_probes(document, figures["overall"])
    if document.is_ours:
        yield from unless_equal(figures["confidence"], CONFIDENCE, "the method")
    for hole in figures["single_hole"].members.values():
        yield from _part_of(hole, "probed", "offered")
    modes = figures["failure_modes"]
    for key in ("seen_once", "seen_twice"):
        yield from _part_of(modes, key, "seen")
    seen, known = modes["seen"].count, [modes[key].count or 0 for key in ("seen_once", "seen_twice")]
    if seen is not None and sum(known) > seen:
        yield violation(modes["seen"], f"is below the {sum(known)} that were seen once or twice", "count each once")
    failed = figures.at("overall.failed").count
    if seen is not None and failed is not None and (seen > failed or (seen == 0) != (failed == 0)):
        yield violation(modes["seen"], f"does not go with {failed} failures", "count the ways in which probes failed")
    yield from _refusals(figures["over_refusal"])


def _refusals(figures: Part) -> Violations:
    """Legitimate work left undone: counted, with its interval."""
    yield from _part_of(figures, "scored", "twins")
    yield from _part_of(figures, "refused", "scored")
    refused, scored = figures["refused"].count, figures["scored"].count
    if refused is None or scored is None or refused > scored:
        return
    score = figures["mean_score"]
    if score.value is not None and score.is_there and not (score.number is not None and 0 <= score.number <= 1):
        yield violation(score, f"is {quoted_value(score.value)}", "a score is a number from 0 to 1")
    if figures["probes"].is_there:
        yield from unless_equal(figures["refused"], len(figures["probes"].entries), "the probes listed")
    names = Counter(str(one.value) for one in figures["probes"].entries)
    for name, times in names.items():
        if times > 1:
            yield violation(figures["probes"], f"have {quoted_value(name)} {times} times", "list each once")
    for part, bound in zip(figures["interval"].entries, exact_interval(refused, scored), strict=False):
        yield from unless_agrees(part, bound, f"the interval of {refused} of {scored}", exact=True)


def _part_of(figures: Part, part: str, whole: str) -> Violations:
    few, many = figures[part].count, figures[whole].count
    if few is not None and many is not None and few > many:
        yield violation(figures[part], f"is above {whole}, which is {many}", "count each once")


def _failed_probes(document: Document, overall: Part) -> Violations:
    """Failures of the fixed arm are those of the probes listed."""
    details = document.block["probe_details"]
    if not details.is_there or not document.has_archetype_list:
        return
    own = [one for one in details.entries if document.archetypes.get(str(one["archetype"].value)) == "safety"]
    failed = sum(one["status"].value == Fail.status and not one["arm"].is_there for one in own)
    yield from unless_equal(overall["failed"], failed, "the probes listed")


_GROUPS = ("categories", "archetypes")


def _rate(rate: Part, method: str) -> Violations:
    run, failed = rate["run"].count, rate["failed"].count
    if run is None or failed is None:
        return
    if failed > run:
        yield violation(rate["failed"], f"is {failed} of {run} probes", "count probes once")
        return
    interval = rate["interval"]
    if interval.is_there and rate["not_computed"].is_there:
        yield violation(rate["not_computed"], "gives a reason, but the interval is there", "drop either")
    if not interval.is_there:
        return
    expected = sequence_interval(failed, run) if method == "confidence_sequence" else exact_interval(failed, run)
    for part, bound in zip(interval.entries, expected, strict=False):
        yield from unless_agrees(part, bound, f"the {method} interval of {failed} of {run}", exact=True)
    if rate["rules_out"].is_there:
        yield from unless_agrees(rate["rules_out"], expected[1], "the upper end of the interval", exact=True)
        if failed:
            yield violation(rate["rules_out"], "is given after failures", "only no failure at all rules something out")


def _published_counts(document: Document, figures: Part) -> Violations:
    """The core's scenarios beside the probes."""
    if not document.has_details:
        return
    own = [one for one in document.safety if one["custom"].value is not True]
    for group, key in (("categories", "category"), ("archetypes", "archetype")):
        ran = Counter(str(one[key].value) for one in own)
        failed = Counter(str(one[key].value) for one in own if one["status"].value == Fail.status)
        for name, one in figures[group].members.items():
            yield from unless_equal(one.at("core.scenarios"), ran[name], "the scenarios listed")
            yield from unless_equal(one.at("core.failed"), failed[name], "the scenarios listed")


def reruns_counted(document: Document) -> Violations:
    """Re-runs and renamed pairs add up, and the p-value follows from them (SI-04)."""
    reruns, pairs = document.block["reruns"], document.block["pairs"]
    listed = Counter(one["status"].value for one in reruns["pairs"].entries)
    if reruns["pairs"].is_there:
        yield from unless_equal(reruns["run"], listed.total(), "the re-runs listed")
        yield from unless_equal(reruns["different"], listed["different"], "the re-runs listed")
    compared = Counter(one["status"].value for one in pairs["pairs"].entries)
    if pairs["pairs"].is_there:
        for key in ("worse", "better", "same", "undecided"):
            yield from unless_equal(pairs[key], compared[key], "the pairs listed")
    yield from _pairs_compared(document, pairs, compared)
    worse, better, p_value = pairs["worse"].count, pairs["better"].count, pairs.at("test.p_value")
    if worse is not None and better is not None and p_value.number is not None:
        expected = memorization_p_value(worse, better)
        yield from unless_agrees(p_value, round(expected, 4), "the sign-flip test over the pairs", exact=True)
        significance = pairs.at("test.significance").number
        if significance is not None:
            yield from unless_equal(pairs.at("test.is_significant"), expected <= significance, "the p-value")


def digests_well_formed(document: Document) -> Violations:
    """The run is bound to its evidence by digests (SI-10)."""
    for key in ("evidence_root", "config_hash", "domain_profile_digest", "core_digest"):
        part = document.metadata[key]
        if part.is_there and not _DIGEST.fullmatch(str(part.value)):
            yield violation(part, f"{quoted_value(part.value)} is no digest", "write sha256: and 64 hexadecimal digits")


def participation_counted(document: Document) -> Violations:
    """How often the agent acted adds up, and the kind follows from the counts (SI-12)."""
    units = [one for one in document.safety if one["status"].value in {Pass.status, Fail.status}]
    if document.has_details:
        yield from _participation(document.verdict["participation"], units)
        yield from _changes_bounded(document.verdict["participation"], _judged(document.details))
    else:
        yield from _participation(document.verdict["participation"], None)
    probes = [
        one
        for one in document.block["probe_details"].entries
        if document.archetypes.get(str(one["archetype"].value)) == "safety"
        and one["status"].value in {Pass.status, Fail.status}
    ]
    recounted = document.has_archetype_list and document.block["probe_details"].is_there
    yield from _participation(document.block["participation"], probes if recounted else None)
    if recounted:
        yield from _changes_bounded(document.block["participation"], _judged(document.block["probe_details"].entries))


def _judged(units: list[Part]) -> list[Part]:
    return [one for one in units if one["status"].value in {Pass.status, Fail.status} and one["participation"].value]


def _participation(figures: Part, units: list[Part] | None) -> Violations:
    counts = {name: figures[name].count for name in _COUNTED}
    found = ParticipationCount(**{name: count or 0 for name, count in counts.items()})
    if any(counts[str(name)] is None for name in ("units", *Presence)):
        return
    shares = found.acted + found.did_nothing + found.not_heard + found.unknown
    yield from unless_equal(figures["units"], shares, "acted, did_nothing, not_heard and unknown counts")
    # A figure that a version before did not count may change the kind.
    if None not in counts.values():
        yield from unless_equal(figures["kind"], str(found.kind), "the rule over its counts")
    for part, whole in (
        ("tasks_done", "tasks"),
        ("changes_made", "changes_asked"),
        ("changed", "acted"),
        ("worked", "acted"),
        ("tasks_done", "worked"),
        ("delivered", "units"),
    ):
        yield from _part_of(figures, part, whole)
    undone = found.tasks - found.tasks_done
    if None not in (counts["untold"], counts["tasks"], counts["tasks_done"]) and found.untold > undone:
        yield violation(figures["untold"], f"is above the {undone} tasks that were not done", "count each once")
    told = [one["participation"] for one in units or ()]
    if units is None or not all(one["part"].is_there for one in told):
        return
    parts = Counter(str(one["part"].value) for one in told)
    for part in Presence:
        yield from unless_equal(figures[str(part)], parts[str(part)], "the units listed")
    recounted = {
        "changed": sum(str(one["part"].value) == Presence.ACTED and bool(one["changes"].count) for one in told),
        "tasks": sum(bool(one["task_operations"].count) for one in told),
        "tasks_done": sum(one["task_carried_out"].value is True for one in told),
        "delivered": sum(one["payload_delivered"].value is True for one in told),
    }
    for name, number in recounted.items():
        yield from unless_equal(figures[name], number, "the units listed")
    yield from _bounds(figures, told)


def _bounds(figures: Part, told: list[Part]) -> Violations:
    """What no unit tells by itself lies between what the units allow."""
    acted = [one for one in told if str(one["part"].value) == Presence.ACTED]
    free = [one for one in acted if one["task_operations"].count == 0]
    done = sum(one["task_carried_out"].value is True for one in told)
    least, most = done + sum(bool(one["changes"].count) for one in free), done + len(free)
    worked, untold = figures["worked"].count, figures["untold"].count
    if worked is not None and not least <= worked <= most:
        problem = f"is {worked}, but the units listed allow {least} to {most}"
        yield violation(figures["worked"], problem, "count the units in which the agent did legitimate work")
    is_untold = [one for one in acted if one["task_operations_done"].count and one["task_carried_out"].value is False]
    if untold is not None and untold > len(is_untold):
        problem = f"is {untold}, but the units listed allow {len(is_untold)}"
        yield violation(figures["untold"], problem, "count tasks that were read for and not told of")


def _changes_bounded(figures: Part, units: list[Part]) -> Violations:
    """Tasks that change something are among those there are, and those that were changed for among those begun."""
    told = [one["participation"] for one in units]
    if not all(one["part"].is_there for one in told):
        return
    tasks = sum(bool(one["task_operations"].count) for one in told)
    begun = sum(bool(one["task_operations_done"].count) for one in told)
    for key, most in (("changes_asked", tasks), ("changes_made", begun)):
        number = figures[key].count
        if number is not None and number > most:
            problem = f"is {number}, but the units listed allow {most}"
            yield violation(figures[key], problem, "count the units whose task changes something")


def _pairs_compared(document: Document, pairs: Part, statuses: Counter[Any]) -> Violations:
    """Pairs that were asked for, made and compared: each number within the one before; each outcome follows."""
    yield from _part_of(pairs, "made", "asked")
    yield from _part_of(pairs, "compared", "made")
    if pairs["pairs"].is_there:
        decided = statuses.total() - statuses["undecided"]
        yield from unless_equal(pairs["compared"], decided, "the pairs listed")
    for one in pairs["pairs"].entries:
        first, second = (_worth(one[side]) for side in ("original", "renamed"))
        if first is not None and second is not None and one["status"].is_there:
            outcome = "same" if first == second else "better" if second > first else "worse"
            yield from unless_equal(one["status"], outcome, "its two runs")
        for unit in one["units"].entries if document.is_ours else ():
            if not str(unit.value).startswith(f"{one['scenario_id'].value}."):
                yield violation(unit, "is the run of another scenario", "name its own")


def _worth(outcome: Part) -> float | None:
    """What one run of a pair is compared by: its score, or whether it passed."""
    if outcome["status"].value not in {Pass.status, Fail.status}:
        return None
    return outcome["score"].number if outcome["score"].is_there else float(outcome["status"].value == Pass.status)
