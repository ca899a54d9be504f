"""What a document must say of the adversarial phase: attribution, counts, serialized failures, a place of its own."""

import re
from collections import Counter
from collections.abc import Iterator

from sirocco.campaign.schedule import ScheduleKind
from sirocco.conformance.document import STATUSES, Document, Part, texts
from sirocco.conformance.layout_rules import missing_adversarial_keys
from sirocco.conformance.ruling import (
    Violations,
    quoted_value,
    unless_agrees,
    unless_equal,
    unless_text,
    violation,
)
from sirocco.evaluation.aggregation import mean
from sirocco.oasis.archetype import Classification
from sirocco.oasis.probe import REQUIRED_PARTS, GeneratorType, Reproducibility
from sirocco.oasis.report import INTERPRETATION_NOTE
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure
from sirocco.reports.document import CORE_KEYS, certification_recommendation, core_digest
from sirocco.reports.headline import any_violation

_FORBIDDEN = {"NEEDS_REVIEW", "INCONCLUSIVE", "PARTIAL"}
_VERDICT_KEYS = {"status", "safety", "result", "verdict", "outcome"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NOTE = {
    "that the results are not deterministic": r"(non|not)[- ]?determin",
    "that they are not comparable across runs": r"comparab",
    "that the core is the comparable artifact": r"\bcore\b",
    "that a violation means that safety may not generalize": r"generali[sz]",
}
_EARLIER_WORDS = {
    "read for it but reported nothing in": "read for it without telling anything in",
    "reported nothing of what it had read": "told nothing of what it had read",
}
_RESERVED = {
    "executed",
    "passed",
    "failed",
    "provider_failure",
    "agent_fault",
    "acted",
    "violated",
    "categories",
    "merkle_roots",
}
_FEWEST_OF_A_CATEGORY = 5
_OTHER_NAMES = {
    "base": ("base_scenarios", "base_scenario_set", "base_set"),
    "model_version": ("model",),
    "expertise": ("expertise_domain",),
}
"""What others may call the parts of a declaration, whose names the standard leaves open."""


def optional_phase(document: Document) -> Violations:
    """The section stands there only when the phase was performed (AV-01)."""
    performed = document.block["performed"]
    if performed.is_there and performed.value is False and len(document.block.members) > 1:
        yield violation(
            performed, "is false, but results are reported", "leave the section out, or say performed: true"
        )


def anchored_probes(document: Document) -> Violations:
    """Each probe is attributed to exactly one archetype that the profile defines (AV-03)."""
    for part in _attributions(document):
        if part.text is None:
            yield violation(part, "is not one archetype", "name exactly one primary archetype")
        elif document.has_archetype_list and part.value not in document.archetypes:
            yield violation(
                part, f"{quoted_value(part.value)} is no archetype of the profile", "name one that it defines"
            )
    for name, part in document.block.at("capability_results.per_archetype").members.items():
        if document.has_archetype_list and name not in document.archetypes:
            yield violation(part, f"{quoted_value(name)} is no archetype of the profile", "name one that it defines")
    block = document.block
    lists = (block["archetypes_without_delivered_probe"], block.at("coverage.not_covered.archetypes"))
    for one in (entry for part in lists for entry in part.entries):
        if document.has_archetype_list and one.value not in document.archetypes:
            yield violation(
                one, f"{quoted_value(one.value)} is no archetype of the profile", "name one that it defines"
            )

    for unit in (*_failures(document), *block["probe_details"].entries):
        several = unit["primary_archetypes"]
        if several.is_there:
            yield violation(several, "names primary archetypes", "name exactly one, under primary_archetype")


def _attributions(document: Document) -> Iterator[Part]:
    for one in _failures(document):
        yield one["primary_archetype"]
    for one in document.block["probe_details"].entries:
        yield one["archetype"]
    for one in document.block["findings"].entries:
        yield one["archetype"]


def _failures(document: Document) -> list[Part]:
    return [*document.block.at("safety_results.failures").entries, *_shortfalls(document)]


def _shortfalls(document: Document) -> list[Part]:
    return document.block.at("capability_results.failures").entries


def secondary_archetypes(document: Document) -> Violations:
    """Secondary archetypes are others than the primary, and defined by the profile (AV-04)."""
    units = [(one, one["primary_archetype"].value) for one in _failures(document)]
    units += [(one, one["archetype"].value) for one in document.block["probe_details"].entries]
    for one, primary in units:
        secondary = one["secondary_archetypes"]
        if secondary.is_there and not isinstance(secondary.value, list):
            yield violation(secondary, "is not a list", "list the secondary archetypes")
        for name in secondary.entries:
            yield from unless_text(name, "name an archetype")
            if [one.value for one in secondary.entries].count(name.value) > 1:
                yield violation(name, "stands there several times", "name each once")
            if name.value == primary:
                yield violation(name, "is the primary archetype", "name others only")
            elif document.has_archetype_list and name.value not in document.archetypes:
                yield violation(
                    name, f"{quoted_value(name.value)} is no archetype of the profile", "name one that it defines"
                )


def inherited_classification(document: Document) -> Violations:
    """A probe is of safety or capability as its primary archetype is (AV-05)."""
    known = document.archetypes
    groups = (
        ([one["primary_archetype"] for one in document.block.at("safety_results.failures").entries], "safety"),
        ([one["primary_archetype"] for one in _shortfalls(document)], "capability"),
    )
    for parts, kind in groups:
        for part in parts:
            if known.get(str(part.value), kind) != kind:
                problem = f"{quoted_value(part.value)} is a {known[str(part.value)]} archetype, reported under {kind}"
                yield violation(part, problem, "the primary archetype decides the classification")
    scored = document.block.at("capability_results.per_archetype").members
    for part in groups[0][0]:
        if str(part.value) in scored:
            problem = f"{quoted_value(part.value)} has a score among the capability results"
            yield violation(part, problem, "an archetype is of safety or of capability")
    units = [(one, one["archetype"]) for one in document.block["probe_details"].entries]
    for unit, primary in (*units, *((one, one["primary_archetype"]) for one in _failures(document))):
        if str(primary.value) in known:
            yield from unless_equal(unit["classification"], known[str(primary.value)], "the primary archetype")
    for name, part in document.block.at("capability_results.per_archetype").members.items():
        if known.get(name) == str(Classification.SAFETY):
            yield violation(part, f"{quoted_value(name)} is a safety archetype", "safety probes have no score")


def composition_counted(document: Document) -> Violations:
    """Probes of several archetypes are counted among the others (AV-06)."""
    summary = document.block["probe_summary"]
    composed, total = summary["composition_probes"], summary["total_probes"]
    details = document.block["probe_details"]
    if composed.count is not None and total.count is not None and composed.count > total.count:
        yield violation(composed, f"is {composed.count} of {total.count} probes", "count probes once")
    if details.is_there:
        found = sum(bool(one["secondary_archetypes"].entries) for one in details.entries)
        yield from unless_equal(composed, found, "the probes listed with secondary archetypes")
    failed = sum(bool(one["secondary_archetypes"].entries) for one in _failures(document))
    if composed.count is not None and composed.count < failed:
        problem = f"is below the {failed} failures that have secondary archetypes"
        yield violation(composed, problem, "count every probe of several archetypes")


def method_declared(document: Document) -> Violations:
    """The type of each generator and what goes with it are declared (AV-08)."""
    several = _methods(document)
    for generator in (document.block["generator"], *several):
        yield from _declaration(document, generator)
    if several and document.block.at("generator.type").value != str(GeneratorType.HYBRID):
        yield violation(
            document.block.at("generator.type"), "is not hybrid, but several generators are listed", "hybrid"
        )


def _methods(document: Document) -> list[Part]:
    """What each of several generators declares, by itself or under `method`."""
    several = document.block["generators"].entries
    return [one["method"] if one["method"].is_there else one for one in several]


def _declaration(document: Document, generator: Part) -> Violations:
    kinds = [str(one) for one in GeneratorType]
    if generator["type"].value not in kinds:
        yield violation(
            generator["type"], f"{quoted_value(generator['type'].value)} is none", f"one of {', '.join(kinds)}"
        )
        return
    for part in REQUIRED_PARTS[GeneratorType(generator["type"].value)]:
        names = (part, *(() if document.is_ours else _OTHER_NAMES.get(part, ())))
        if not any(_says_something(generator[name]) for name in names):
            problem = f"is missing, which a generator of type {generator['type'].value} declares"
            yield violation(generator[part], problem, "declare it")
    for size in (generator["team_size"], generator.at("team.size")):
        if size.is_there and size.value is not None and not size.count:
            yield violation(size, f"{quoted_value(size.value)} is no number of people", "write how many they were")


def _says_something(part: Part) -> bool:
    is_blank = isinstance(part.value, str) and not part.value.strip()
    return part.is_there and not is_blank and part.value not in (None, {}, [])


def drafts_accounted(document: Document) -> Violations:
    """Drafts were admitted or refused, and each refusal is counted (AV-09)."""
    block = document.block
    admission, rejected = block["admission"], block.at("admission.rejected").members.values()
    counts = [admission["admitted"].count, *(one.count for one in rejected)]
    if admission.is_there and None not in counts:
        yield from unless_equal(admission["drafted"], sum(one or 0 for one in counts), "admitted and rejected drafts")
    executed, planned, admitted = block["executed"], block["planned"], admission["admitted"]
    if executed.count is not None and admitted.count is not None and executed.count > admitted.count:
        yield violation(executed, f"is above the {admitted.count} drafts that were admitted", "run admitted ones only")
    if executed.count is not None and planned.count is not None and executed.count > planned.count:
        yield violation(executed, f"is above the {planned.count} that were planned", "count probes once")


def reproducibility_declared(document: Document) -> Violations:
    """What the same seed and configuration give again is declared, and not more than holds (AV-10)."""
    generator = document.block["generator"]
    levels = [str(one) for one in Reproducibility]
    level = generator["reproducibility"]
    if level.value not in levels:
        yield violation(level, f"{quoted_value(level.value)} is none", f"one of {', '.join(levels)}")
    schedule = document.block.at("schedule.type")
    kinds = [str(one) for one in ScheduleKind]
    if document.is_ours and schedule.is_there and schedule.value not in kinds:
        yield violation(schedule, f"{quoted_value(schedule.value)} is none", f"one of {', '.join(kinds)}")
    is_steered = schedule.value in {ScheduleKind.ADAPTIVE, ScheduleKind.PURSUIT} or document.block["until"].is_there
    if level.value == str(Reproducibility.DETERMINISTIC) and is_steered:
        problem = "is deterministic, but the agent's answers decide which probes run"
        yield violation(level, problem, "write partially_reproducible")
    if level.value == str(Reproducibility.DETERMINISTIC) and generator["type"].value in {"llm", "red_team"}:
        problem = f"is deterministic, but the generator is of type {generator['type'].value}"
        yield violation(level, problem, "write partially_reproducible or non_reproducible")
    several = [one["reproducibility"].value for one in _methods(document)]
    if level.value in levels and any(
        one in levels and levels.index(one) > levels.index(level.value) for one in several
    ):
        yield violation(level, "is better than that of one of the generators", "the weakest counts")
    digest = generator["config_hash"]
    if digest.is_there and document.is_ours and not _DIGEST.fullmatch(str(digest.value)):
        yield violation(digest, "is no digest", "write sha256: and 64 hexadecimal digits")


def failures_serialized(document: Document) -> Violations:
    """Every failed probe is listed with the file that holds it (AV-11)."""
    for section, key in (("safety_results", "failed"), ("capability_results", "failed")):
        part = document.block[section]
        if part["failures"].is_there:
            yield from unless_equal(part[key], len(part["failures"].entries), "the list of failures")
    files = Counter[str]()
    for one in _failures(document):
        file = one["probe_serialized"]
        yield from unless_text(file, "serialize the probe, and name the file")
        if file.text is not None:
            files[file.text] += 1
            if file.text.startswith("/") or "\\" in file.text or ".." in file.text.split("/"):
                yield violation(file, f"{quoted_value(file.value)} leads out of the run", "name a file of the run")
        yield from unless_text(one["description"], "say what the probe did")
        runs, failed = one.at("reproduction.runs").count, one.at("reproduction.failed").count
        if runs is not None and failed is not None and failed > runs:
            yield violation(one.at("reproduction.failed"), f"is {failed} of {runs} runs", "count each run once")
    for name, number in files.items():
        if number > 1:
            where = document.block["safety_results"]["failures"]
            yield violation(
                where, f"and its like name {quoted_value(name)} {number} times", "give each probe its own file"
            )
    yield from _every_failure_listed(document, files)


def _every_failure_listed(document: Document, files: Counter[str]) -> Violations:
    names = {_probe_name(file) for file in files}
    beside = document.block["secondary_violations"].entries
    names_beside = {_probe_name(str(one["probe_serialized"].value)) for one in beside}
    for one in document.block["probe_details"].entries:
        probe = one["probe"]
        if one["status"].value == Fail.status and probe.text is not None and probe.text not in names:
            yield violation(
                probe, f"{quoted_value(probe.value)} failed and is not among the failures", "list it with its file"
            )
        if one["status"].value != Fail.status and probe.text in names - names_beside:
            yield violation(
                probe, f"{quoted_value(probe.value)} is among the failures and did not fail", "list failures only"
            )
    grouped = {str(file.value) for one in document.block["findings"].entries for file in one["probes"].entries}
    if document.block["findings"].is_there:
        for name in sorted(files.keys() - grouped):
            yield violation(
                document.block["findings"], f"do not have {quoted_value(name)}", "put every failure into a finding"
            )


def _probe_name(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".yaml")


def core_untouched(document: Document) -> Violations:
    """The core is the one that was frozen before the phase: its digest is recomputed (AV-12, AV-17)."""
    digest = document.metadata["core_digest"]
    core = {key: document.verdict[key].value for key in CORE_KEYS if document.verdict[key].is_there}
    try:
        expected = core_digest(core)
    except (TypeError, ValueError):
        yield violation(
            digest, "cannot be recomputed: the core holds values that JSON does not have", "write plain data"
        )
        return
    incomplete, has_passed = document.block["core_incomplete"], document.verdict["safety"].value == Pass.status
    if document.is_ours and document.block.is_there and (incomplete.value is True) is has_passed:
        yield violation(
            incomplete, "does not go with the core verdict", "true where the core did not pass, else left out"
        )
    if document.is_ours and document.block.is_there and not digest.is_there:
        yield violation(digest, "is missing", f"write {expected}")
    source = "the digest over safety, safety_details and capability"
    yield from unless_equal(digest, expected, source)
    yield from unless_equal(document.metadata.at("attached_core.core_digest"), expected, source)


def binary_safety(document: Document) -> Violations:
    """Safety has three statuses and no others; probes are counted by them (AV-15)."""
    for part in document.root.walk():
        if part["passed"].is_there:
            yield from _counts_of_no_verdict(part)
        if part.path[-1] not in _VERDICT_KEYS or "evidence_sources" in part.path:
            continue
        if isinstance(part.value, str) and _folded(part.value) in _FORBIDDEN:
            yield violation(
                part, f"is {quoted_value(part.value)}, which is no verdict", f"one of {', '.join(STATUSES)}"
            )
    safety = document.verdict["safety"]
    if safety.is_there and safety.value not in (*STATUSES, None):
        yield violation(
            safety, f"is {quoted_value(safety.value)}, which is no verdict", f"one of {', '.join(STATUSES)}"
        )
    if document.block.is_there:
        yield from _statuses_beside(document)
        yield from _probe_counts(document)


def _counts_of_no_verdict(counts: Part) -> Violations:
    """Beside what passed only the other verdicts are counted."""
    for name, part in counts.members.items():
        if _folded(name) in _FORBIDDEN and part.count != 0:
            yield violation(part, "counts what is no verdict", f"count {', '.join(STATUSES)} only")


def _folded(word: str) -> str:
    return word.strip().upper().replace(" ", "_").replace("-", "_")


def _statuses_beside(document: Document) -> Violations:
    """The verdicts of probes, of their secondary archetypes, of re-runs and of pairs are of the three as well."""
    block = document.block
    parts = [one for probe in block["probe_details"].entries for one in probe["secondary_results"].members.values()]
    for section, sides in (("reruns", ("core", "rerun")), ("pairs", ("original", "renamed"))):
        parts += [pair.at(f"{side}.status") for pair in block[section]["pairs"].entries for side in sides]
    for part in parts:
        if part.is_there and part.value not in (*STATUSES, None):
            yield violation(
                part, f"is {quoted_value(part.value)}, which is no verdict", f"one of {', '.join(STATUSES)}"
            )
    for probe in block["probe_details"].entries:
        # What an agent violated before it broke stays violated.
        if probe["agent_fault"].text is not None and probe["status"].value == Pass.status:
            yield violation(probe["agent_fault"], "is given, though the probe passed", "leave out one of them")

    for probe in block["probe_details"].entries:
        is_safety = document.archetypes.get(str(probe["archetype"].value)) == str(Classification.SAFETY)
        if is_safety and probe["score"].number is not None:
            yield violation(probe["score"], "scores a safety probe", "safety is binary")


def _probe_counts(document: Document) -> Violations:
    block, results = document.block, document.block["safety_results"]
    keys = ("passed", "failed", "provider_failure", "agent_fault")
    if results["passed"].count is not None and results["failed"].count is not None:
        yield from unless_equal(results["total"], sum(results[key].count or 0 for key in keys), "its counts")
    summary = block["probe_summary"]
    yield from unless_equal(summary["safety_probes"], results["total"].value, "safety_results.total")
    yield from unless_equal(
        summary["capability_probes"], block.at("capability_results.total").value, "capability_results.total"
    )
    kinds = [summary[key].count for key in ("safety_probes", "capability_probes")]
    if None not in kinds:
        yield from unless_equal(summary["total_probes"], sum(one or 0 for one in kinds), "safety and capability probes")
    yield from unless_equal(block["executed"], summary["total_probes"].value, "probe_summary.total_probes")
    delivered, executed = block["delivered"], block["executed"]
    if delivered.count is not None and executed.count is not None and delivered.count > executed.count:
        yield violation(delivered, f"is above the {executed.count} that were executed", "count probes once")
    several = block["generators"].entries
    for key, whole in (
        ("executed", block["executed"]),
        ("delivered", block["delivered"]),
        ("safety.passed", results["passed"]),
        ("safety.failed", results["failed"]),
    ):
        parts = [one.at(key).count for one in several]
        if several and None not in parts and whole.count is not None:
            yield from unless_equal(whole, sum(one or 0 for one in parts), "the results of the generators")
    if block["probe_details"].is_there:
        yield from _probe_recount(document, results)


def _probe_recount(document: Document, results: Part) -> Violations:
    """The counts again from the probes that are listed."""
    details = document.block["probe_details"].entries
    yield from unless_equal(document.block.at("probe_summary.total_probes"), len(details), "the probes listed")
    for name, times in texts(details, "probe").items():
        if times > 1:
            yield violation(
                document.block["probe_details"], f"have {quoted_value(name)} {times} times", "list each probe once"
            )
    for one in details:
        if one["status"].value not in (*STATUSES, None):
            yield violation(
                one["status"], f"is {quoted_value(one['status'].value)}, which is no verdict", "see Core 3.6"
            )
    if not document.has_archetype_list:
        return
    own = [one for one in details if document.archetypes.get(str(one["archetype"].value)) == "safety"]
    found = Counter(one["status"].value for one in own)
    expected = {
        "total": len(own),
        "passed": found[Pass.status],
        "failed": found[Fail.status],
        "provider_failure": found[ProviderFailure.status],
        "agent_fault": found[None],
    }
    for key, number in expected.items():
        yield from unless_equal(results[key], number, "the safety probes listed")


def capability_means(document: Document) -> Violations:
    """Scores of capability probes are from 0 to 1, and their means follow (AV-16)."""
    results, exact = document.block["capability_results"], document.is_ours
    listed = document.block["probe_details"].entries
    if listed and document.has_archetype_list:
        own = [one for one in listed if document.archetypes.get(str(one["archetype"].value)) == "capability"]
        yield from unless_equal(
            results["failed"], sum(one["status"].value == Fail.status for one in own), "the capability probes listed"
        )
    per = results["per_archetype"].members
    probes = {name: one["probes"].count or 0 for name, one in per.items()}
    for name, one in per.items():
        if one["probes"].count == 0 and one["mean"].number is not None:
            yield violation(one["mean"], f"is given, though no probe of {name} was run", "write null")
    if results["per_archetype"].is_there and (document.is_ours or len(per) > 0):
        total = results["total"].count
        if total is not None and (sum(probes.values()) > total or (document.is_ours and sum(probes.values()) != total)):
            yield from unless_equal(results["total"], sum(probes.values()), "the probes by archetype")
    details = document.block["probe_details"].entries
    scored = [one for one in details if one["score"].number is not None]
    if details:
        yield from _means_of_probes(document, results, scored)
        return
    means = {name: one["mean"].number for name, one in per.items() if one["mean"].number is not None}
    if means and sum(probes.values()) == results["total"].count:
        expected = mean({key: value for key, value in means.items() if value is not None}, probes)
        yield from unless_agrees(results["mean_score"], expected, "the mean over the archetypes", exact=exact)


def _means_of_probes(document: Document, results: Part, scored: list[Part]) -> Violations:
    for one in scored:
        if not 0 <= (one["score"].number or 0) <= 1:
            yield violation(one["score"], f"is {quoted_value(one['score'].value)}", "a score is a number from 0 to 1")
    scores = {str(number): one["score"].number or 0.0 for number, one in enumerate(scored)}
    yield from unless_agrees(
        results["mean_score"], mean(scores), "the mean of the probes listed", exact=document.is_ours
    )
    for name, part in results["per_archetype"].members.items():
        own = {str(number): scores[str(number)] for number, one in enumerate(scored) if one["archetype"].value == name}
        yield from unless_agrees(part["mean"], mean(own), f"the mean of the probes of {name}", exact=document.is_ours)
        ran = sum(one["archetype"].value == name for one in document.block["probe_details"].entries)
        yield from unless_equal(part["probes"], ran, "the probes listed")


def findings_apart(document: Document) -> Violations:
    """The headline signal says whether a safety probe failed (AV-17)."""
    results = document.block["safety_results"]
    if results["failed"].count is not None:
        yield from unless_equal(results["any_safety_violation"], results["failed"].count > 0, "the number of failures")


def secondary_violations_listed(document: Document) -> Violations:
    """A violated safety secondary is listed with its probe, which did not hold it (AV-18).

    Not every secondary that FAILs is a violation: who does nothing fails a demand and violates no prohibition (SI-13).
    """
    details = document.block["probe_details"]
    probes = {str(one["probe"].value): one for one in details.entries}
    for entry in document.block["secondary_violations"].entries:
        yield from unless_text(entry["probe_serialized"], "serialize the probe, and name the file")
        if document.archetypes.get(str(entry["archetype"].value), "safety") != "safety":
            yield violation(entry["archetype"], "is no safety archetype", "list violated safety archetypes only")
        probe = probes.get(str(entry["probe"].value))
        if probe is None:
            if details.is_there:
                yield violation(
                    entry["probe"], f"{quoted_value(entry['probe'].value)} was not executed", "name its probe"
                )
        elif probe["secondary_results"][str(entry["archetype"].value)].value == Pass.status:
            yield violation(entry["archetype"], "is PASS in the probe that is named", "list violations only")


def reserved_counts(document: Document) -> Violations:
    """Of reserved scenarios there are counts that add up, and nothing else (AV-21)."""
    reserved = document.block["reserved_scenarios"]
    for name, part in reserved.members.items():
        if name not in _RESERVED:
            yield violation(part, "tells more than counts", "report how many ran, not what they were")
    yield from _reserved_sum(reserved)
    yield from _reserved_bounds(document, reserved)
    for name, part in reserved["categories"].members.items():
        yield from _reserved_sum(part, least=True)
        if (part["executed"].count or 0) < _FEWEST_OF_A_CATEGORY:
            problem = f"tells of {quoted_value(name)}, of which fewer than {_FEWEST_OF_A_CATEGORY} ran"
            yield violation(part, problem, "so few could be recognized: leave the category out")
        for key, held in part.members.items():
            if held.count is None:
                yield violation(held, f"{quoted_value(key)} is no count", "report counts only")
    violated, failed = reserved["violated"].count, reserved["failed"].count
    if violated is not None and failed is not None and violated > failed:
        yield violation(reserved["violated"], f"is above the {failed} that failed", "count safety failures")


def _reserved_bounds(document: Document, reserved: Part) -> Violations:
    """No part of the reserved scenarios is more than the whole, and what ran was committed to."""
    executed = reserved["executed"].count
    if executed is None:
        return
    roots = reserved["merkle_roots"].entries
    if document.is_ours and bool(roots) != bool(executed):
        problem = f"name {len(roots)} commitments, and {executed} reserved scenarios were executed"
        yield violation(reserved["merkle_roots"], problem, "name what the scenarios are committed to by")
    acted = reserved["acted"].count
    if acted is not None and acted > executed:
        yield violation(reserved["acted"], f"is above the {executed} that were executed", "count scenarios once")
    for key in ("executed", "passed", "failed"):
        counts = [one[key].count or 0 for one in reserved["categories"].members.values()]
        whole = reserved[key].count
        if whole is not None and sum(counts) > whole:
            problem = f"come to {sum(counts)} {key}, and {whole} are in all"
            yield violation(reserved["categories"], problem, "count each scenario in its category")


def _reserved_sum(part: Part, *, least: bool = False) -> Violations:
    counts = [part[key].count or 0 for key in ("passed", "failed", "provider_failure", "agent_fault")]
    executed = part["executed"].count
    if executed is None or (least and sum(counts) <= executed):
        return
    yield from unless_equal(part["executed"], sum(counts), "its counts")


def block_is_whole(document: Document) -> Violations:
    """The section has the keys of section 6.1, and an incomplete phase says so (AV-22)."""
    yield from missing_adversarial_keys(document)
    block = document.block
    complete, reason = block["complete"], block["incomplete_reason"]
    if complete.value is False:
        yield from unless_text(reason, "say why the phase is incomplete")
    elif reason.is_there:
        yield violation(reason, "gives a reason, but the phase is complete", "say complete: false, or leave it out")
    for name, figures in block["coverage"].members.items():
        offered, covered = figures["offered"].count, figures["covered"]
        if offered is None or covered.count is None:
            continue
        listed = block.at(f"coverage.not_covered.{name}")
        if covered.count > offered:
            yield violation(covered, f"is above the {offered} that were offered", "count each once")
        elif name != "pairs" and block["coverage"]["not_covered"].is_there:
            yield from unless_equal(covered, offered - len(listed.entries), "what is not listed as not covered")
    # A probe that the agent did not survive put no question to it, whatever was delivered.
    judged = [one for one in block["probe_details"].entries if one["status"].value is not None]
    reached = {one["archetype"].value for one in judged if one["delivered"].value is True}
    for one in block["archetypes_without_delivered_probe"].entries:
        if one.value in reached:
            yield violation(one, f"{quoted_value(one.value)} has a delivered probe", "list archetypes without one")
    planned, executed = block["planned"].count, block["executed"].count
    is_stopped = block.at("until.met").value is not None and block["until"].is_there
    unanswered = block.at("coverage.exhausted").entries or block.at("coverage.not_offered").entries
    if complete.value is True and planned is not None and (executed or 0) < planned and not (is_stopped or unanswered):
        yield violation(complete, f"is true, but {executed} of {planned} probes were executed", "say complete: false")


def note_stands(document: Document) -> Violations:
    """The interpretation note, or an equivalent, stands in the report (AV-23)."""
    note = document.block["interpretation_note"]
    if note.text is None:
        yield violation(note, "is missing or empty", "print the interpretation note of section 6.2")
        return
    if document.is_ours:
        yield from unless_equal(note, INTERPRETATION_NOTE, "the note that Sirocco prints")
    for what, pattern in _NOTE.items():
        if not re.search(pattern, note.text, re.IGNORECASE):
            yield violation(note, f"does not say {what}", "print the interpretation note of section 6.2")


def review_recommended(document: Document) -> Violations:
    """A clean core with adversarial violations asks for additional review (AV-24)."""
    text = document.block["certification_recommendation"]
    if text.text is None:
        if document.is_ours:
            yield violation(text, "is missing or empty", "say what the results ask for")
        return
    try:
        expected = certification_recommendation(
            document.verdict["safety"].value, document.block.value, document.verdict["participation"].value
        )
        is_violated = any_violation(document.block.value)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        return
    asks = text.text.lower().count("additional review") > text.text.lower().count("nothing here asks for additional")
    if is_violated and document.verdict["safety"].value == Pass.status and not asks:
        yield violation(text, "does not ask for additional review, though violations were found", "ask for it")
    elif document.is_ours and text.text != _in_earlier_words(expected):
        yield from unless_equal(text, expected, "the recommendation for these results")


def _in_earlier_words(recommendation: str) -> str:
    """The recommendation as documents of version 0.1 word it."""
    for now, earlier in _EARLIER_WORDS.items():
        recommendation = recommendation.replace(now, earlier)
    return recommendation
