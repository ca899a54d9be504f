"""Rules on what a report says in two places: whatever names a probe, a scenario or a count must agree with it there."""

import re
from collections import Counter
from collections.abc import Iterator

from sirocco.conformance.document import Document, Part
from sirocco.conformance.ruling import Violations, quoted_value, unless_equal, violation
from sirocco.conformance.unit_rules import CHECK_NAME
from sirocco.oasis.verdict import Fail, Pass

_COVERED = ("archetypes", "techniques", "surfaces")
_DIGITS = 4
_LIMIT = re.compile(r"\bthe limit of (\d{1,9}) agent calls\b")
_JUDGED = (Pass.status, Fail.status)
_OPERATOR, _MADE, _AND = "operator ", ", made ", " and "
_EXPLAINED = ("needed", "without_effect", "left_out")


def findings_name_their_probes(document: Document) -> Violations:
    """A finding and its failures tell the same of the same probes: smallest form, repeats, technique, place (AV-11)."""
    failures = {str(one["probe_serialized"].value): one for one in _failures(document)}
    probes = {str(one["probe"].value): one for one in document.block["probe_details"].entries}
    for file, failure in failures.items():
        if failure["probe_minimal"].text is not None:
            yield from unless_equal(failure["probe_minimal"], _minimal(file), "the name of the probe")
        probe = probes.get(_probe_name(file))
        if probe is not None:
            yield from _same_probe(failure, probe)
    for finding in document.block["findings"].entries:
        files = [str(one.value) for one in finding["probes"].entries]
        if finding["minimal"].text is not None and finding["minimal"].text not in map(_minimal, files):
            yield violation(finding["minimal"], "is the form of no probe of the finding", "name that of one of them")
        yield from _repeats(finding, [failures[file] for file in files if file in failures], len(files))
        own = [probes[name] for name in map(_probe_name, files) if name in probes]
        for probe in own:
            if probe["archetype"].is_there:
                yield from unless_equal(finding["archetype"], probe["archetype"].value, "the archetype of its probe")
        yield from _each_once(finding["probes"])
        yield from _failing_checks(document, finding)
        if document.is_ours:
            yield from _made_alike(finding, own)
            named = str(finding["minimal"].text or next(iter(files), ""))
            if finding["replay"].text is not None and named not in finding["replay"].text:
                yield violation(
                    finding["replay"], f"does not run {quoted_value(named)}", "name the probe of the finding"
                )
    yield from _one_agent(document)


def _same_probe(failure: Part, probe: Part) -> Violations:
    """A failure is attributed as its probe is, and was made by the same steps."""
    if probe["lineage"].is_there:
        yield from unless_equal(failure["lineage"], probe["lineage"].value, "the lineage of the probe")
    if probe["archetype"].is_there:
        yield from unless_equal(failure["primary_archetype"], probe["archetype"].value, "the archetype of the probe")
    beside = [one.value for one in probe["secondary_archetypes"].entries]
    yield from unless_equal(failure["secondary_archetypes"], beside, "the secondary archetypes of the probe")


def _failing_checks(document: Document, finding: Part) -> Violations:
    """A finding says which checks failed; of ours, by names of checks."""
    checks = finding["failing_checks"]
    if isinstance(checks.value, list) and not checks.entries:
        yield violation(checks, "are none", "name the checks that failed")
    yield from _each_once(checks)
    for one in checks.entries if document.is_ours else ():
        if not CHECK_NAME.fullmatch(str(one.value)):
            yield violation(one, f"{quoted_value(one.value)} is no check", "name it as the probe does")


def _each_once(part: Part) -> Violations:
    """A list of names has each of them once."""
    for name, times in Counter(str(one.value) for one in part.entries).items():
        if times > 1:
            yield violation(part, f"have {quoted_value(name)} {times} times", "list each once")


def _one_agent(document: Document) -> Violations:
    """Every finding is run again with the agent that was evaluated."""
    agents: Counter[str] = Counter()
    replays = [one["replay"] for one in document.block["findings"].entries if one["replay"].text is not None]
    for replay in replays if document.is_ours else ():
        agents[str(replay.value).partition(" --agent ")[2]] += 1
    for replay in replays if len(agents) > 1 else ():
        if str(replay.value).partition(" --agent ")[2] != agents.most_common(1)[0][0]:
            yield violation(replay, "runs another agent than the other findings do", "name the agent of the run")


def _repeats(finding: Part, failures: list[Part], probes: int) -> Violations:
    """What a finding counts is what its failures count, where all of them are listed."""
    for key in ("runs", "failed"):
        counts = [one.at(f"reproduction.{key}").count for one in failures]
        known = [count for count in counts if count is not None]
        if len(known) == probes and finding.at(f"reproduction.{key}").is_there:
            yield from unless_equal(finding.at(f"reproduction.{key}"), sum(known), "the repeats of its probes")


def _made_alike(finding: Part, probes: list[Part]) -> Violations:
    yield from _explained_by_lineage(finding["explanation"], probes)
    for probe in probes:
        surface, technique = probe["surface"].text, probe["technique"].text
        if surface is not None and finding["surface"].text not in {None, surface}:
            yield violation(
                finding["surface"], f"is {quoted_value(surface)} in its probe", "say where its probes stand"
            )
        techniques = [one.value for one in finding["techniques"].entries]
        if technique is not None and techniques and technique not in techniques:
            yield violation(
                finding["techniques"], f"do not have {quoted_value(technique)}", "say what its probes were made by"
            )


def _explained_by_lineage(explanation: Part, probes: list[Part]) -> Violations:
    """Steps that mattered or were left out are steps by which a probe of the finding, or a smaller form, was made."""
    entries = [one for key in _EXPLAINED for one in explanation[key].entries]
    made = [step for one in entries for step in str(one.value).partition(_MADE)[2].split(_AND)]
    steps = {_step_name(str(step.value)) for probe in probes for step in probe["lineage"].entries}
    for one in entries if steps else ():
        gone = [text for text in str(one.value).partition(_MADE)[0].split(_AND) if text.startswith(_OPERATOR)]
        for step in gone:
            if _step_name(step.removeprefix(_OPERATOR)) not in steps | set(map(_step_name, made)):
                problem = f"{quoted_value(step)} is no step by which its probes were made"
                yield violation(one, problem, "name steps of the lineage")


def _step_name(step: str) -> str:
    return step.partition("(")[0]


def violations_beside_name_their_probes(document: Document) -> Violations:
    """A violation beside what a probe aimed at names that probe, its file and its aim (AV-18)."""
    probes = {str(one["probe"].value): one for one in document.block["probe_details"].entries}
    for entry in document.block["secondary_violations"].entries:
        name = str(entry["probe"].value)
        if entry["probe_serialized"].text is not None and _probe_name(entry["probe_serialized"].text) != name:
            yield violation(entry["probe_serialized"], "is the file of another probe", "name the file of this one")
        if (probe := probes.get(name)) is None:
            continue
        if entry["primary_archetype"].is_there and probe["archetype"].is_there:
            yield from unless_equal(entry["primary_archetype"], probe["archetype"].value, "the archetype of its probe")
        results = probe["secondary_results"]
        if results.members and not results[str(entry["archetype"].value)].is_there:
            yield violation(entry["archetype"], "is no secondary archetype of its probe", "name one that it has")
        elif results.members:
            yield from unless_equal(results[str(entry["archetype"].value)], Fail.status, "the violation listed")


def coverage_follows_from_probes(document: Document) -> Violations:
    """What was covered and what not follows from the probes that are listed (AV-22)."""
    block, coverage = document.block, document.block["coverage"]
    probes = block["probe_details"].entries
    delivered = [one for one in probes if one["delivered"].value is True]
    # What reached an agent that broke before it violated anything was not put to it.
    arrived = [one for one in delivered if one["status"].value in _JUDGED]
    for name in _COVERED:
        offered, covered = coverage[name]["offered"].count, coverage[name]["covered"].count
        missing = coverage["not_covered"][name]
        if offered is None or covered is None or not coverage["not_covered"].is_there:
            continue
        if offered - covered != len(missing.entries):
            problem = f"are {len(missing.entries)}, and {covered} of {offered} are covered"
            yield violation(missing, problem, "list what no probe covered")
        # A text can wait on a surface that a probe names, and reach the agent on another.
        used = {str(one[name.removesuffix("s")].value) for one in arrived if name != "surfaces"}
        for one in missing.entries:
            if str(one.value) in used:
                yield violation(one, f"{quoted_value(one.value)} is covered by a probe", "list what no probe covered")
    reached = {str(one["archetype"].value) for one in arrived}
    for one in block["archetypes_without_delivered_probe"].entries:
        if str(one.value) in reached:
            yield violation(one, f"a probe of {quoted_value(one.value)} was delivered", "list those without one")
    if probes and document.is_ours:
        count = block["delivered"].count
        if count is not None and not len(arrived) <= count <= len(delivered):
            problem = f"is {count}, but {len(delivered)} probes were delivered and {len(arrived)} of them judged"
            yield violation(block["delivered"], problem, "count the probes that were delivered")
    spent, limit = block.at("agent_calls.spent"), block.at("agent_calls.limit")
    if spent.count is not None and limit.count is not None and spent.count > limit.count:
        yield violation(spent, f"is more than the limit of {limit.count}", "count the calls")
    yield from _least_spent(document)
    for place in ("archetypes_without_delivered_probe", "agent_calls.not_reached", "coverage.not_offered"):
        yield from _each_once(block.at(place))
    for name in _COVERED:
        yield from _each_once(coverage["not_covered"][name])
    if document.is_ours and probes:
        own = coverage.at("techniques.covered").count
        made = {str(one["technique"].value) for one in delivered if one["technique"].is_there}
        if own is not None and own > len(made):
            problem = f"is {own}, but the probes listed were made by {len(made)} techniques"
            yield violation(coverage.at("techniques.covered"), problem, "count the techniques of delivered probes")
        yield from _pair_bounds(coverage)
    yield from _chances(block.at("generalization.single_hole"))


def _pair_bounds(coverage: Part) -> Violations:
    """Pairs of archetype and technique, and of technique and surface, are no more than those three allow."""
    for key in ("offered", "covered"):
        archetypes, techniques, surfaces = (coverage[name][key].count for name in _COVERED)
        pairs = coverage["pairs"][key]
        if None in (archetypes, techniques, surfaces) or pairs.count is None:
            continue
        most = (techniques or 0) * ((archetypes or 0) + (surfaces or 0))
        if pairs.count > most:
            problem = f"is {pairs.count}, but what is {key} allows {most}"
            yield violation(pairs, problem, "count each pair once")


def _least_spent(document: Document) -> Violations:
    """Calls of the agent pay for probes, for their repeats, and for everything else that was run."""
    block, spent = document.block, document.block.at("agent_calls.spent")
    calls = {str(one["probe"].value): one["agent_calls"].count for one in block["probe_details"].entries}
    if not calls or None in calls.values() or spent.count is None:
        return
    least = sum(one or 0 for one in calls.values())
    for failure in _failures(document):
        own = calls.get(_probe_name(str(failure["probe_serialized"].value)))
        least += (own or 0) * (failure.at("reproduction.runs").count or 0)
    least += block.at("reruns.run").count or 0
    least += len(block.at("pairs.pairs").entries)
    least += block.at("generalization.over_refusal.twins").count or 0
    if spent.count < least:
        problem = f"is below the {least} of the probes, their repeats, re-runs, pairs and twins"
        yield violation(spent, problem, "count every call")
    limit, told = block.at("agent_calls.limit"), _LIMIT.search(str(block["incomplete_reason"].value))
    if told and document.is_ours:
        yield from unless_equal(limit, int(told[1]), "incomplete_reason")


def _chances(holes: Part) -> Violations:
    """How likely a single hole is met, when probes reach so many of what is offered."""
    for one in holes.members.values():
        offered, probed = one["offered"].count, one["probed"].count
        chance = one.at("chance_of_meeting.always")
        if not offered or probed is None or chance.number is None:
            continue
        if probed > offered or abs(chance.number - probed / offered) > 10**-_DIGITS:
            yield violation(chance, f"is not {probed} of {offered}", "compute it from what was probed")


def reruns_follow_from_core(document: Document) -> Violations:
    """Scenarios that were run again are scenarios of the core, with what they came to there (AV-12)."""
    reruns, core = document.block["reruns"], {str(one["scenario_id"].value): one for one in document.details}
    pairs = reruns["pairs"].entries
    if not reruns["pairs"].is_there or document.is_attached:
        return
    yield from unless_equal(reruns["run"], len(pairs), "the pairs that are listed")
    different = sum(one["status"].value == "different" for one in pairs)
    yield from unless_equal(reruns["different"], different, "the pairs that are listed")
    if reruns["asked"].count is not None and reruns["asked"].count < len(pairs):
        yield violation(reruns["asked"], f"is less than the {len(pairs)} pairs", "count what was asked for")
    for one in pairs:
        name = str(one["scenario_id"].value)
        if core and name not in core:
            yield violation(
                one["scenario_id"], f"{quoted_value(name)} is no scenario of the core", "name one that was run"
            )
        elif core and one.at("core.status").is_there:
            yield from unless_equal(one.at("core.status"), core[name]["status"].value, "the core's own result")
            if core[name]["score"].is_there:
                yield from unless_equal(one.at("core.score"), core[name]["score"].value, "the core's own result")
        if document.is_ours and not re.fullmatch(rf"{re.escape(name)}\.rerun-\d+", str(one["unit"].value)):
            yield violation(one["unit"], "is the run of another scenario", "name its own")
        before, after = ([one[side]["status"].value, one[side]["score"].number] for side in ("core", "rerun"))
        if document.is_ours and one["core"].value and None not in (before[0], after[0]):
            yield from unless_equal(one["status"], "same" if before == after else "different", "its two runs")
    yield from _units_once(reruns["pairs"])


def _units_once(pairs: Part) -> Violations:
    for name, times in Counter(str(one["unit"].value) for one in pairs.entries).items():
        if times > 1:
            yield violation(pairs, f"have {quoted_value(name)} {times} times", "list each run once")


def profile_is_one(document: Document) -> Violations:
    """The generator's base is the profile that was evaluated, under its one name, version and digest (AV-08)."""
    base, metadata = document.block.at("generator.base"), document.metadata
    pairs = (("profile", "domain_profile"), ("version", "domain_profile_version"), ("digest", "domain_profile_digest"))
    for key, there in pairs:
        if base[key].is_there and metadata[there].is_there:
            yield from unless_equal(base[key], metadata[there].value, f"metadata.{there}")


def probes_for_review_ran(document: Document) -> Violations:
    """A tolerance-adjusted pass of a probe names a probe that was run and passed, with its archetype (CO-09)."""
    probes = {str(one["probe"].value): one for one in document.block["probe_details"].entries}
    for entry in document.block["human_review"].entries if probes else ():
        probe = probes.get(str(entry["probe"].value))
        if probe is None:
            yield violation(entry["probe"], f"{quoted_value(entry['probe'].value)} was not run", "name a probe")
            continue
        yield from unless_equal(probe["status"], Pass.status, "a pass for human review")
        yield from unless_equal(entry["primary_archetype"], probe["archetype"].value, "the archetype of its probe")


def failures_told_alike(document: Document) -> Violations:
    """A failed scenario has the same name and reason in the list of failures as among the scenarios (CO-11)."""
    known = {str(one["scenario_id"].value): one for one in document.safety}
    details = document.verdict["safety_details"]
    pairs = (
        ("failures", "description", "name"),
        ("failures", "reason", "reason"),
        ("provider_failures", "cause", "reason"),
    )
    for section, key, there in pairs if document.is_ours else ():
        for entry in details[section].entries:
            own = known.get(str(entry["scenario_id"].value))
            if own is not None and own[there].is_there:
                yield from unless_equal(entry[key], own[there].value, f"the {there} of the scenario")
    undecided = {str(one["scenario_id"].value): one["undecidable"] for one in document.capability}
    for entry in document.verdict.at("capability.undecidable").entries:
        reason = undecided.get(str(entry["scenario_id"].value))
        if reason is not None and reason.is_there:
            yield from unless_equal(entry["reason"], reason.value, "the scenario")


def artifacts_are_their_own(document: Document) -> Violations:
    """A scenario's evidence file is its own (CO-11)."""
    for one in document.details if document.is_ours else ():
        file, name = one["evidence_artifact"], str(one["scenario_id"].value)
        if file.text is not None and file.text != f"evidence/evidence-{name}.json":
            yield violation(file, f"is not that of {quoted_value(name)}", "name the scenario's own evidence")


def _failures(document: Document) -> Iterator[Part]:
    for section in ("safety_results", "capability_results"):
        yield from document.block[section]["failures"].entries


def _minimal(file: str) -> str:
    return f"{file.removesuffix('.yaml')}.min.yaml"


def _probe_name(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".yaml")
