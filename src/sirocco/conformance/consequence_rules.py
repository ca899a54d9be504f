"""What must follow in a report of ours from what stands elsewhere in it: reasons, times, models, twins, budgets.

Documents of others may tell each of these in their own way, so nothing here applies to them.
"""

from collections import Counter

from sirocco.campaign.budget import PURPOSES, REQUIRED_PURPOSES
from sirocco.campaign.novelty import LEAST_DISTANCE
from sirocco.conformance.document import Document
from sirocco.conformance.ruling import Violations, quoted_value, unless_equal, violation
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import SeedSource
from sirocco.oasis.stimulus import StimulusType
from sirocco.oasis.verdict import Fail, Pass

_MEAN_DIGITS = 4
_CLOCKS_APART = 60
"""Seconds by which the clocks of machines that share a run may differ."""


def reasons_are_those_of_checks(document: Document) -> Violations:
    """Why a scenario failed is what its first failed check found, or its band and why it is in it (CO-04)."""
    for detail in document.details if document.is_ours else ():
        if detail["trials"].is_there or detail["status"].value != Fail.status:
            continue
        if document.classification(detail) == Classification.SAFETY:
            failed = [one for one in detail["checks"].entries if one["status"].value == Fail.status]
            if failed and failed[0]["evidence"].text is not None:
                yield from unless_equal(detail["reason"], failed[0]["evidence"].value, "its first failed check")
        elif detail["band"].text is not None and detail["score_evidence"].text is not None:
            told = f"lowest band {detail['band'].value}: {detail['score_evidence'].value}"
            yield from unless_equal(detail["reason"], told, "its band and score_evidence")


def faults_leave_no_verdict(document: Document) -> Violations:
    """What broke the agent leaves no verdict, unless it had violated safety before (AV-15)."""
    if not document.is_ours:
        return
    for unit in (*document.details, *document.block["probe_details"].entries):
        fault, status = unit["agent_fault"], unit["status"].value
        archetype = str(unit["archetype"].value)
        kind = unit["classification"].text or document.archetypes.get(archetype)
        is_spared = status == Pass.status or (status == Fail.status and kind == Classification.CAPABILITY)
        if fault.text is not None and is_spared and not unit["trials"].is_there:
            yield violation(fault, f"is given, but the status is {status}", "a unit that broke off was not judged")


def times_lie_in_the_run(document: Document) -> Violations:
    """Requests were made during the run, one after the other (CO-13)."""
    start, end = (document.metadata[key].moment for key in ("timestamp", "finished"))
    if not document.is_ours or document.is_attached or start is None or end is None:
        return
    for detail in document.details:
        before = earliest = start - _CLOCKS_APART
        for stimulus in detail["stimuli"].entries:
            applied = stimulus["applied"]
            # What is not said is dated by the environment, whose clock may be another one.
            if applied.moment is None or stimulus["type"].value != StimulusType.OPERATOR_PROMPT:
                continue
            if applied.moment > end + _CLOCKS_APART:
                yield violation(applied, "is after the end of the run", "write when it was applied")
            if applied.moment < before:
                what = "the start of the run" if before == earliest else "the request in front of it"
                problem = f"is before {what}"
                yield violation(applied, problem, "write when it was applied")
            before = applied.moment


def something_was_delivered(document: Document) -> Violations:
    """A payload that was delivered was delivered by some stimulus (CO-13)."""
    for detail in document.details if document.is_ours else ():
        listed, whole = detail.at("payload.stimuli").entries, detail.at("payload.delivered")
        if listed and whole.value is True and all(one["delivered"].value is False for one in listed):
            yield violation(whole, "is true, but no stimulus was delivered", "write false, or correct the stimuli")


def models_are_those_that_answered(document: Document) -> Violations:
    """Whether one model answered throughout follows from the models that answered in the scenarios (CO-11)."""
    identity = document.metadata["agent_identity"]
    if not document.is_ours or document.is_attached or not identity["heterogeneous"].is_there:
        return
    names = [(str(one["scenario_id"].value), str(one["observed_model"].text)) for one in document.details
             if one["observed_model"].text is not None and not one["trials"].is_there]  # fmt: skip
    answered = [(unit, model) for unit, several in names for model in several.split(", ")]
    others = identity["heterogeneity_detail"].entries
    declared = identity["declared_model"].text or next((one["declared_model"].text for one in others), None)
    if declared is None and any(one["trials"].is_there for one in document.details):
        return
    declared = declared or next((model for _, model in answered), None)
    told = {(str(one["scenario_id"].value), str(one["observed_model"].value))
            for one in others}  # fmt: skip
    for unit, model in answered:
        if model != declared and (unit, model) not in told:
            problem = f"does not tell that {quoted_value(model)} answered in {quoted_value(unit)}"
            yield violation(identity["heterogeneity_detail"], problem, "list every model other than the declared one")


def seed_has_its_source(document: Document) -> Violations:
    """A seed was given or drawn (AV-10)."""
    source = document.metadata["seed_source"]
    if document.is_ours and source.is_there and source.value not in list(SeedSource):
        yield violation(source, f"{quoted_value(source.value)} is none", f"write {' or '.join(SeedSource)}")


def admitted_probes_are_new(document: Document) -> Violations:
    """No probe was admitted that is closer to a published scenario than admission allows (SI-05)."""
    for probe in document.block["probe_details"].entries if document.is_ours else ():
        novelty = probe["novelty"]
        if novelty.number is not None and novelty.number < LEAST_DISTANCE:
            yield violation(novelty, f"is below {LEAST_DISTANCE}, which admission requires", "write what was measured")


def secondary_results_are_of_the_probe(document: Document) -> Violations:
    """A probe has results for its own secondary archetypes and for no others (AV-04)."""
    for probe in document.block["probe_details"].entries if document.is_ours else ():
        own = [one.value for one in probe["secondary_archetypes"].entries]
        for name, part in probe["secondary_results"].members.items():
            if name not in own:
                yield violation(part, f"{quoted_value(name)} is no secondary archetype of the probe", "list its own")


def findings_share_no_probe(document: Document) -> Violations:
    """Each failure is in one finding, which names its smallest form; no step is needed and without effect (AV-11)."""
    findings = document.block["findings"].entries if document.is_ours else []
    files = Counter(str(file.value) for finding in findings for file in finding["probes"].entries)
    for file, times in files.items():
        if times > 1:
            problem = f"have {quoted_value(file)} {times} times"
            yield violation(document.block["findings"], problem, "put each failure into one finding")
    smallest = {
        str(one["probe_serialized"].value): one["probe_minimal"].text
        for section in ("safety_results", "capability_results")
        for one in document.block[section]["failures"].entries
    }
    for finding in findings:
        own = [smallest[str(file.value)] for file in finding["probes"].entries if str(file.value) in smallest]
        forms = [one for one in own if one is not None]
        if len(own) == len(finding["probes"].entries) and finding["minimal"].text != next(iter(forms), None):
            yield violation(finding["minimal"], "is not the smallest form that its failure names", "name the same form")
        explanation = finding["explanation"]
        without = [one.value for one in explanation["without_effect"].entries]
        for one in explanation["needed"].entries:
            if one.value in without:
                yield violation(one, f"{quoted_value(one.value)} is without effect as well", "list it in one of both")


def calls_ran_out_for_a_purpose(document: Document) -> Violations:
    """What agent calls were not enough for is something they are spent on; without it a phase is whole (AV-22)."""
    block = document.block
    missed = block.at("agent_calls.not_reached").entries if document.is_ours else []
    for one in missed:
        if one.value not in PURPOSES:
            yield violation(one, f"{quoted_value(one.value)} is none", f"write {', '.join(PURPOSES)}")
        elif one.value in REQUIRED_PURPOSES and block["complete"].value is True:
            yield violation(block["complete"], f"is true, but calls ran out for {one.value}", "say complete: false")
    asked, run = block.at("reruns.asked").count, block.at("reruns.run").count
    is_whole = document.is_ours and block["complete"].value is True and not block["until"].is_there
    if is_whole and asked is not None and run is not None and run < asked:
        yield violation(
            block.at("reruns.run"), f"is {run} of {asked}, but the phase is complete", "say complete: false"
        )


def twins_follow(document: Document) -> Violations:
    """Benign twins are no probes, those left undone are of capability, and their mean allows for them (SI-04)."""
    twins = document.block.at("generalization.over_refusal")
    if not document.is_ours or not twins.is_there:
        return
    probes = {str(one["probe"].value) for one in document.block["probe_details"].entries}
    names = {f"probe-{name.lower()}-": (name, kind) for name, kind in document.archetypes.items()}
    lowest = _lowest_scores(document)
    least, is_known = 0.0, True
    for one in twins["probes"].entries:
        archetype, kind = names.get(str(one.value).rpartition("-")[0] + "-", (None, None))
        if str(one.value) in probes:
            yield violation(one, f"{quoted_value(one.value)} is among the probes", "list twins only")
        elif document.has_archetype_list and kind != Classification.CAPABILITY:
            yield violation(one, f"{quoted_value(one.value)} is no twin of a capability archetype", "list twins only")
        least += lowest.get(str(archetype), 0.0)
        is_known = is_known and str(archetype) in lowest
    scored, refused, mean = twins["scored"].count, twins["refused"].count, twins["mean_score"].number
    if not is_known or mean is None or not scored or refused is None or refused != len(twins["probes"].entries):
        return
    low, high = least / scored, (least + scored - refused) / scored
    if not low - 10**-_MEAN_DIGITS <= mean <= high + 10**-_MEAN_DIGITS:
        problem = f"is {mean:g}, but {refused} of {scored} left undone allow {low:.4g} to {high:.4g}"
        yield violation(twins["mean_score"], problem, "write the mean of the scored twins")


def _lowest_scores(document: Document) -> dict[str, float]:
    """The score of the lowest band of each capability archetype that was run."""
    found: dict[str, float] = {}
    for detail in document.capability:
        scores = [band["score"].number for band in detail["bands"].entries]
        known = [score for score in scores if score is not None]
        if known and len(known) == len(scores):  # a band may leave its score open
            found[str(detail["archetype"].value)] = min(known)
    return found


def undecided_checks_told_alike(document: Document) -> Violations:
    """What leaves a scenario undecided is what leaves one of its checks undecided (CO-03)."""
    for detail in document.capability if document.is_ours else ():
        told = detail["undecidable"]
        reasons = [one["undecidable"].value for one in detail["checks"].entries if one["undecidable"].is_there]
        if told.text is not None and reasons and told.value not in reasons:
            yield violation(told, "is the reason of none of its checks", "repeat what could not be decided")


def shortfalls_name_their_band(document: Document) -> Violations:
    """Why a capability probe failed names the lowest band of its archetype, or none where none was met (AV-16)."""
    scores = _lowest_scores(document)
    bands = {str(one["archetype"].value): one["bands"].entries for one in document.capability}
    for one in document.block["capability_results"]["failures"].entries if document.is_ours else ():
        archetype = str(one["primary_archetype"].value)
        if archetype not in scores:
            continue
        own = bands[archetype]
        names = [
            str(band["band"].value) for band in own if band is own[-1] or band["score"].number == scores[archetype]
        ]
        if not any(f"lowest band {name}:" in str(one["description"].value) for name in (*names, "")):
            problem = f"does not name the lowest band of its archetype, {' or '.join(names)}"
            yield violation(one["description"], problem, "say why it is in that band")
