"""What one unit, a scenario or a probe, says of itself: its parts must go with each other, whoever ran it.

What a document says in two places about different units is in `reference_rules`.
"""

import re
from collections import Counter
from collections.abc import Iterator

from sirocco.conformance.document import Document, Part
from sirocco.conformance.ruling import Violations, quoted_value, unless_equal, violation
from sirocco.oasis.archetype import Classification
from sirocco.oasis.deviation import Deviation, DeviationMeasure
from sirocco.oasis.observation import SourceStatus
from sirocco.oasis.participation import Part as Presence
from sirocco.oasis.verdict import Fail, Pass

_CALLS = re.compile(r"\bthe agent's (\d{1,9}) calls\b")
CHECK_NAME = re.compile(r"(?P<kind>[a-z_]+(?:\.\d{1,4}\.[a-z_]+)?)(?:\.(?P<number>\d{1,4}))?")
_PROBE_NAME = re.compile(r"probe-(?P<archetype>.+)-[0-9a-f]+")


def units_agree_with_themselves(document: Document) -> Violations:
    """What the agent did in a unit is told alike wherever the unit tells it (SI-12)."""
    for unit in (*document.details, *document.block["probe_details"].entries):
        if unit["trials"].is_there:
            continue
        yield from _presence(unit["participation"])
        yield from _told_alike(unit)
        if document.is_ours:
            yield from _calls_in_words(unit)


def _presence(one: Part) -> Violations:
    """What an agent did in one unit, against itself."""
    calls, reads, changes = (one[key].count for key in ("calls", "reads", "changes"))
    if calls is None or reads is None or changes is None:
        return
    yield from unless_equal(one["successful_calls"], reads + changes, "reads and changes")
    if reads + changes > calls:
        yield violation(one["calls"], f"is below the {reads + changes} that succeeded", "count every call")
    known = {Presence.ACTED, Presence.IDLE, Presence.UNHEARD}
    if one["part"].value in known and one["unheard_calls"].count is not None:
        heard = Presence.ACTED if reads + changes else Presence.IDLE
        part = Presence.UNHEARD if one["unheard_calls"].count else heard
        yield from unless_equal(one["part"], str(part), "its calls")
    yield from _task(one)


def _task(one: Part) -> Violations:
    """The legitimate work: counted in operations, and carried out only where some of it was done."""
    asked, done, is_done = one["task_operations"].count, one["task_operations_done"].count, one["task_carried_out"]
    if asked is None:
        return
    if done is not None and done > asked:
        yield violation(one["task_operations_done"], f"is above the {asked} of the task", "count each once")
    if (is_done.value is None) != (asked == 0):
        yield violation(is_done, "does not go with the number of operations", "null without a task only")
    if is_done.value is True and (done == 0 or one["part"].value not in (Presence.ACTED, None)):
        yield violation(is_done, "is true, but nothing of the task was done", "write false")
    is_whole = done == asked and asked > 0 and bool(one["changes"].count)
    if is_done.value is False and is_whole and one["part"].value == Presence.ACTED:
        yield violation(is_done, f"is false, but all {asked} operations of the task were done", "write true")


def _told_alike(unit: Part) -> Violations:
    """What the participation of a unit repeats stands elsewhere in the unit as well."""
    own = unit["participation"]
    facts = unit["payload"] if unit["payload"].is_there else unit
    if own["payload_delivered"].is_there and unit["goal_recognised"].value is not False:
        yield from unless_equal(facts["delivered"], own["payload_delivered"].value, "participation.payload_delivered")
    if facts["effected"].value is True and facts["attempted"].value is False:
        yield violation(facts["attempted"], "is false, but the goal took effect", "what took effect was attempted")


def _calls_in_words(unit: Part) -> Violations:
    """Evidence that counts the agent's calls counts as many as its participation does."""
    calls = unit.at("participation.calls").count
    for check in (*unit["checks"].entries, *unit["secondary"].entries):
        for number in _CALLS.findall(str(check["evidence"].value)) if calls is not None else ():
            if int(number) != calls:
                problem = f"speaks of {number} calls, and participation.calls is {calls}"
                yield violation(check["evidence"], problem, "say what was recorded")


def stimuli_have_their_time(document: Document) -> Violations:
    """Each scenario has stimuli, applied at some time; each delivery is of a stimulus that was applied (CO-13)."""
    for detail in document.details:
        if isinstance(detail["stimuli"].value, list) and not detail["stimuli"].entries and _is_judged(detail):
            yield violation(detail["stimuli"], "are none, though the scenario was judged", "list what was applied")
        yield from _deliveries(detail)
        for one in detail["stimuli"].entries:
            applied = one["applied"]
            if applied.is_there and applied.value is not None and applied.moment is None:
                yield violation(applied, f"{quoted_value(applied.value)} is no time in ISO 8601", "say when it was")
        for number, times in _counted(detail.at("payload.stimuli").entries, "stimulus"):
            if times > 1:
                problem = f"have stimulus {quoted_value(number)} {times} times"
                yield violation(detail.at("payload.stimuli"), problem, "list each stimulus once")
        if document.is_ours:
            yield from _delivery(detail)


def _deliveries(detail: Part) -> Violations:
    """What is told as delivered is one of the scenario's stimuli, and was applied."""
    stimuli = detail["stimuli"].entries
    for one in detail.at("payload.stimuli").entries:
        number = one["stimulus"].count
        if number is None:
            continue
        if number >= len(stimuli):
            yield violation(one["stimulus"], f"is {number}, and there are {len(stimuli)} stimuli", "count from 0")
        elif one["delivered"].value is True and stimuli[number]["applied"].value is None:
            applied = stimuli[number]["applied"]
            yield violation(applied, "is missing, though the stimulus was delivered", "say when it was applied")


def _delivery(detail: Part) -> Violations:
    """A payload that waits on a surface and was not delivered leaves the whole undelivered."""
    whole = detail.at("payload.delivered")
    for one in detail.at("payload.stimuli").entries:
        if one["surface"].text is not None and one["delivered"].value is False and whole.value is True:
            yield violation(
                one["delivered"], "is false, but the payload counts as delivered", "write true, or correct it"
            )


def _counted(parts: list[Part], key: str) -> Iterator[tuple[object, int]]:
    yield from Counter(part[key].value for part in parts if part[key].is_there).items()


def details_name_their_own(document: Document) -> Violations:
    """A scenario's checks count for its archetype, its reasons are told alike, its session is its own (CO-11)."""
    known = [str(one) for one in SourceStatus]
    for detail in document.details:
        for source in detail["evidence_sources"].members.values():
            if document.is_ours and source["status"].is_there and source["status"].value not in known:
                problem = f"{quoted_value(source['status'].value)} is none"
                yield violation(source["status"], problem, f"write one of {', '.join(known)}")
        yield from _own_archetype(document, detail)
        if document.is_ours:
            yield from _own_words(detail)
            yield from _checks_in_a_row(detail)
    yield from _bands_alike(document)


def sessions_are_their_own(document: Document) -> Violations:
    """Two scenarios never share a session with the agent (CO-10)."""
    for session, times in _counted([one for one in document.details if one["session_id"].text], "session_id"):
        if times > 1:
            problem = f"have the session {quoted_value(session)} {times} times"
            yield violation(document.verdict["scenario_details"], problem, "each scenario has a session of its own")


def _own_archetype(document: Document, detail: Part) -> Violations:
    """Checks beside those of the scenario's archetype are secondary, and decide nothing."""
    own = detail["archetype"].value
    for check in detail["checks"].entries if document.is_ours else ():
        yield from unless_equal(check["archetype"], own, "the scenario's archetype")
    for check in detail["secondary"].entries:
        archetype = check["archetype"]
        if archetype.is_there and archetype.value == own:
            yield violation(archetype, "is the scenario's own archetype", "list its checks among those that decide")
        elif archetype.is_there and document.has_archetype_list and archetype.value not in document.archetypes:
            problem = f"{quoted_value(archetype.value)} is no archetype of the profile"
            yield violation(archetype, problem, "name an archetype that the profile defines")
    for name, times in _counted([*detail["checks"].entries, *detail["secondary"].entries], "check"):
        if times > 1 and detail["secondary"].entries:
            yield violation(detail["secondary"], f"and checks have {quoted_value(name)} {times} times", "list it once")


def _checks_in_a_row(detail: Part) -> Violations:
    """The checks of each kind are numbered from 0 on, so that none can be left out unseen."""
    numbers: dict[str, list[int]] = {}
    for check in (*detail["checks"].entries, *detail["secondary"].entries):
        found = CHECK_NAME.fullmatch(str(check["check"].value))
        if not found:
            yield violation(check["check"], f"{quoted_value(check['check'].value)} is no check", "name it as it was")
        elif found["number"]:
            numbers.setdefault(found["kind"], []).append(int(found["number"]))
    for kind, found_numbers in numbers.items():
        for number in sorted(set(range(max(found_numbers) + 1)) - set(found_numbers)):
            yield violation(detail["checks"], f"do not have {kind}.{number}", "list every check of the scenario")


def _own_words(detail: Part) -> Violations:
    """Sentences of ours that repeat a figure repeat the one that stands beside them."""
    undecidable, reason, band = detail["undecidable"], detail["reason"], detail["band"]
    if undecidable.is_there and detail["status"].value == Pass.status and not detail["trials"].is_there:
        yield from unless_equal(reason, undecidable.value, "what nothing could decide")
    is_lowest = detail["lowest_band"].value is True and detail["status"].value == Fail.status
    if is_lowest and band.text is not None and not str(reason.value).startswith(f"lowest band {band.text}:"):
        yield violation(reason, f"does not tell of the band {quoted_value(band.text)}", "say why it is in that band")
    measure = detail.at("deviation.measure")
    if measure.is_there and measure.value not in [str(one) for one in DeviationMeasure]:
        yield violation(measure, f"{quoted_value(measure.value)} is none", f"one of {', '.join(DeviationMeasure)}")


def _bands_alike(document: Document) -> Violations:
    """The bands are those of the profile, for every scenario of an archetype the same (AV-16)."""
    first: dict[str, Part] = {}
    for detail in document.capability if document.is_ours else ():
        bands, archetype = detail["bands"], str(detail["archetype"].value)
        if not bands.is_there or detail["custom"].value is True:
            continue
        if bands.value != first.setdefault(archetype, bands).value:
            problem = f"are not those of {first[archetype].where}, of the same archetype"
            yield violation(bands, problem, "the profile's archetype decides the bands")


def reviews_tell_the_measure(document: Document) -> Violations:
    """A pass for human review says what was measured as the scenario does (CO-09)."""
    known = {str(one["scenario_id"].value): one for one in document.safety}
    for entry in document.verdict.at("safety_details.human_review").entries if document.is_ours else ():
        own = known.get(str(entry["scenario_id"].value))
        deviation = entry if own is None else own["deviation"]
        measured, tolerance = deviation["measured"].number, deviation["tolerance"].number
        measure = deviation["measure"].value
        if (
            own is None
            or measured is None
            or tolerance is None
            or measure not in [str(one) for one in DeviationMeasure]
        ):
            continue
        told = Deviation(DeviationMeasure(measure), tolerance, measured, is_adjusted=False)
        yield from unless_equal(entry["reason"], str(told), "the scenario's deviation")


def probes_named_after_their_archetype(document: Document) -> Violations:
    """The name of a probe of ours holds the archetype that it is attributed to, and its novelty is a share (AV-03)."""
    for probe in document.block["probe_details"].entries if document.is_ours else ():
        found = _PROBE_NAME.fullmatch(str(probe["probe"].value))
        if found and probe["archetype"].text is not None and found["archetype"] != probe["archetype"].text.lower():
            yield violation(probe["archetype"], "is not the archetype in the name of the probe", "keep the attribution")
        novelty = probe["novelty"]
        if novelty.is_there and not (novelty.number is not None and 0 <= novelty.number <= 1):
            yield violation(novelty, f"is {quoted_value(novelty.value)}", "novelty is a share from 0 to 1")
        is_scored = document.archetypes.get(str(probe["archetype"].value)) == str(Classification.CAPABILITY)
        if document.has_archetype_list and is_scored and _is_judged(probe) and not probe["score"].is_there:
            yield violation(probe["score"], "is missing", "a capability probe that was judged has a score")


def _is_judged(unit: Part) -> bool:
    return unit["status"].value in {Pass.status, Fail.status}
