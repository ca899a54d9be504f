"""What a document says of the run as a whole: what was selected, why it is incomplete, how long it took (CO-11)."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from sirocco.agents.isolation import Mechanism, mechanisms
from sirocco.conformance.document import Document, Part
from sirocco.conformance.ruling import Violations, quoted_value, violation
from sirocco.evaluation.semver import Version
from sirocco.oasis.archetype import Classification
from sirocco.oasis.report import INTERRUPTED
from sirocco.oasis.verdict import Fail, Pass
from sirocco.reports.document import NO_SAFETY, ONLY_CUSTOM

OLDEST_CORE = "1.0.0-rc1.5"
_PLATFORMS = ("linux", "darwin")
_REQUESTS_ONLY = "network"
_DIGESTS = ("config_hash", "domain_profile_digest", "core_digest", "evidence_root")


def metadata_is_possible(document: Document) -> Violations:
    """Metadata of ours has values that Sirocco writes, and no scenario lasts longer than the run."""
    if not document.is_ours:
        return
    metadata, known = document.metadata, _isolation_levels()
    isolation = metadata["agent_isolation"]
    if isolation.is_there and isolation.value not in known:
        problem = f"{quoted_value(isolation.value)} is no level of isolation"
        yield violation(isolation, problem, f"write one of {', '.join(known)}")
    version = metadata["oasis_core_version"]
    found, oldest = Version.parse(str(version.value)), Version.parse(OLDEST_CORE)
    if found is not None and oldest is not None and found < oldest:
        problem = f"{quoted_value(version.value)} is older than any version that Sirocco evaluates by"
        yield violation(version, problem, f"write {OLDEST_CORE} or a later one")
    lasted = metadata["duration"].number
    for detail in document.details if not document.is_attached else ():
        took = detail.at("non_scoring_metadata.duration")
        if took.number is not None and lasted is not None and took.number > lasted:
            yield violation(took, f"is {took.number:g} seconds of a run of {lasted:g}", "write what was measured")
    yield from _artifacts(document)


def _isolation_levels() -> list[str]:
    held: list[Mechanism] = [
        one for platform in _PLATFORMS for is_root in (True, False) for one in mechanisms(platform, is_root=is_root)
    ]
    return sorted({"none", _REQUESTS_ONLY, *(one.isolation for one in held)})


def _artifacts(document: Document) -> Violations:
    """Evidence is written for every scenario of a run or for none."""
    with_artifact = [one for one in document.details if one["evidence_artifact"].is_there]
    for one in document.details if with_artifact else ():
        if not one["evidence_artifact"].is_there:
            yield violation(one["evidence_artifact"], "is missing, and other scenarios have theirs", "name the file")


def reasons_follow(document: Document) -> Violations:
    """Why an evaluation of ours is incomplete follows from the rest of the document."""
    if not document.is_ours or document.is_attached:
        return
    told = document.metadata.at("evaluation_mode.incomplete_because")
    reasons, required = [str(one.value) for one in told.entries], list(_required_reasons(document))
    for reason in required:
        if reason not in reasons:
            yield violation(told, f"do not say {quoted_value(reason)}", "give every reason")
    possible = {*required, *_tier_reasons(document), NO_SAFETY, ONLY_CUSTOM, INTERRUPTED}
    for one in told.entries:
        if one.value not in possible:
            yield violation(one, f"{quoted_value(one.value)} follows from nothing in the document", "leave it out")


def _required_reasons(document: Document) -> Iterator[str]:
    verdict, metadata = document.verdict, document.metadata
    for name in metadata.at("evaluation_mode.filters").members:
        yield f"only a selection was run: {name}"
    if metadata["aborted"].value is True:
        yield "the run was aborted"
    if skipped := len(verdict["skipped_scenarios"].entries):
        yield f"{skipped} scenarios were skipped"
    asked = [Classification.SAFETY] if verdict["safety"].value == Fail.status else list(Classification)
    if short := [kind for kind in asked if verdict["coverage"][kind]["complete"].value is False]:
        tier = metadata.at("environment.tier").value
        yield f"tier {tier} asks for more {' and '.join(short)} archetypes than were evaluated"


def _tier_reasons(document: Document) -> Iterator[str]:
    environment = document.metadata["environment"]
    evidence = environment["tier_evidence"]
    below = f"the environment is below tier {environment['tier'].value}: "
    for one in evidence["demands"].entries:
        if one["met"].value is False:
            yield f"{below}{one['demand'].value}, found {one['found'].value}"
    if evidence["fault"].is_there:
        yield f"{below}the environment could not be verified: {evidence['fault'].value}"


def selection_was_run(document: Document) -> Violations:
    """Of a selection of ours nothing else was run."""
    if not document.is_ours or not document.has_details:
        return
    filters = document.metadata.at("evaluation_mode.filters")
    globs = [str(one.value) for one in filters["scenarios"].entries]
    categories = [one.value for one in filters["categories"].entries]
    for one in document.details:
        if one["custom"].value is True:
            continue
        name, kind = one["scenario_id"], document.classification(one)
        if globs and not any(fnmatchcase(str(name.value), glob) for glob in globs):
            yield violation(name, f"{quoted_value(name.value)} was not selected", "list what was run")
        if categories and one["category"].value not in categories:
            yield violation(one["category"], f"{quoted_value(one['category'].value)} was not selected", "see filters")
        if filters["safety_only"].value is True and kind != Classification.SAFETY:
            yield violation(name, "is no safety scenario, and only those were selected", "see filters")


def everything_was_run(document: Document) -> Violations:
    """After a PASS, a run of ours that came to its end has run or skipped every scenario that applies (CO-08)."""
    applicable = document.metadata.at("configuration_coverage.applicable")
    is_whole = document.verdict["safety"].value == Pass.status and not document.is_broken_off
    if not document.is_ours or not document.has_details or not is_whole or applicable.count is None:
        return
    ran = len([one for one in document.details if one["custom"].value is not True])
    accounted = ran + len(document.verdict["skipped_scenarios"].entries)
    if applicable.count != accounted:
        problem = f"is {applicable.count}, but {accounted} scenarios were run or skipped"
        yield violation(applicable, problem, "count the scenarios that apply")


def digests_differ(document: Document) -> Violations:
    """Digests of different things are different (SI-10)."""
    seen: dict[str, Part] = {}
    for key in _DIGESTS:
        part = document.metadata[key]
        if part.text is not None and part.text in seen:
            yield violation(part, f"is that of {seen[part.text].where} as well", "write the digest of what it names")
        elif part.text is not None:
            seen[part.text] = part
