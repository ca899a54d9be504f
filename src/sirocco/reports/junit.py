"""JUnit XML for CI: a suite for each category of the core, and separate suites for the adversarial phase (AV-17).

A score is not a test that passes or fails: capability scenarios report theirs and never fail, unless safety was
violated during them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sirocco.reports.findings import probe_name
from sirocco.reports.headline import (
    Half,
    archetype_names,
    archetype_title,
    core_half,
    core_warning,
    generalization_half,
    participation_count,
    probe_warning,
    reserved_count,
    shortcomings,
    smallest_form,
    violation_count,
)
from sirocco.reports.text import line, printable_text

Detail = Mapping[str, Any]
_TEXT = 4_000


def junit_xml(verdict: Detail) -> str:
    """The document for one verdict (the value under its top key)."""
    metadata = verdict["metadata"]
    root = Element("testsuites", {"name": _xml_text(f"sirocco: {metadata['agent']} {metadata['agent_version']}")})
    root.extend(_core(verdict))
    root.extend(_adversarial(verdict))
    return _document(root)


@dataclass(frozen=True, slots=True)
class Case:
    """One row of a list that is not a verdict: `outcome` is failure, error, skipped, or empty."""

    name: str
    group: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def cases_xml(title: str, suite: str, cases: Iterable[Case], properties: Mapping[str, object]) -> str:
    """The document for a list of cases in one suite."""
    root = Element("testsuites", {"name": _xml_text(title)})
    root.append(_suite(suite, map(_listed_case, cases), properties, ""))
    return _document(root)


def _listed_case(one: Case) -> Element:
    case = _case(one.name, one.group)
    if one.outcome:
        said = {"type": _xml_text(one.kind), "message": _xml_text(line(one.message))}
        SubElement(case, one.outcome, said).text = _xml_text(one.text)
    return case


def _document(root: Element) -> str:
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _core(verdict: Detail) -> Iterator[Element]:
    by_suite: dict[str, list[Element]] = {}
    for detail in verdict["scenario_details"]:
        suite = f"core.{detail.get('classification', 'safety')}.{detail['category']}"
        by_suite.setdefault(suite, []).append(_scenario(detail))
    for excluded in verdict.get("excluded_scenarios", ()):
        case = _case(excluded["scenario_id"], excluded["archetype"])
        SubElement(case, "skipped", {"message": _xml_text(f"NOT_APPLICABLE: {excluded['condition']}")})
        by_suite.setdefault("core.not_applicable", []).append(case)
    for skipped in verdict.get("skipped_scenarios", ()):
        case = _case(skipped["scenario_id"], skipped["archetype"])
        SubElement(case, "skipped", {"message": _xml_text(skipped["reason"])})
        by_suite.setdefault("core.skipped", []).append(case)
    metadata = verdict["metadata"]
    properties = {
        "safety": verdict["safety"] or "no verdict",
        "tier": metadata["environment"]["tier"],
        "profile": f"{metadata['domain_profile']} {metadata['domain_profile_version']}",
        "complete": metadata["evaluation_mode"]["complete"],
        "incomplete_because": "; ".join(map(str, metadata["evaluation_mode"]["incomplete_because"])),
        "core_digest": metadata["core_digest"],
        "participation": participation_count(verdict.get("participation")),
        "warning": core_warning(verdict) or "",
    }
    if not by_suite:
        by_suite["core.safety"] = []
    by_suite = {"core.verdict": [_core_case(verdict)], **by_suite}
    for name, cases in by_suite.items():
        yield _suite(name, cases, properties, _time(metadata))


def _core_case(verdict: Detail) -> Element:
    """The core's half of the head, as a separate test, so that a CI job shows it next to the other half."""
    half = core_half(verdict)
    case = _half_case(half)
    match verdict["safety"]:
        case "PASS":
            if half.tone != "PASS":
                SubElement(case, "skipped", {"message": _xml_text(half.sentence)})
        case "FAIL":
            SubElement(case, "failure", {"type": "FAIL", "message": _xml_text(half.sentence)})
        case status:
            _error(case, str(status or "NO_VERDICT"), half.sentence)
    return case


def _generalization_case(verdict: Detail) -> Element:
    """The other half: a phase that showed nothing must not look like one that found nothing."""
    half, block = generalization_half(verdict), verdict.get("adversarial_verification")
    case = _half_case(half)
    missing = [] if block is None else shortcomings(block)
    if half.tone == "FAIL":
        failure = SubElement(case, "failure", {"type": "adversarial finding", "message": _xml_text(half.sentence)})
        failure.text = _xml_text("\n".join(missing))
    elif missing:
        _error(case, "INCOMPLETE", "; ".join(missing))
    elif half.tone == "NONE":
        SubElement(case, "skipped", {"message": _xml_text(half.sentence)})
    return case


def _half_case(half: Half) -> Element:
    case = _case(f"{half.title}: {half.word}", half.title)
    SubElement(case, "system-out").text = _xml_text(half.sentence)
    return case


def _scenario(detail: Detail) -> Element:
    case = _case(detail["scenario_id"], detail["archetype"])
    reason = line(detail.get("reason") or "")
    if detail.get("classification") == "capability":
        if detail.get("status") == "PROVIDER_FAILURE":
            _add_reason(case, "error", "PROVIDER_FAILURE", reason, detail)
        elif detail.get("score") is None:
            SubElement(case, "skipped", {"message": reason or "no score"})
        else:
            said = f"score {detail['score']:.2f}, band {detail.get('band')}: {detail.get('score_evidence', '')}"
            SubElement(case, "system-out").text = _xml_text(said)
        return case
    match detail.get("status"):
        case "FAIL":
            _add_reason(case, "failure", "FAIL", reason, detail)
        case "PASS":
            pass
        case status:
            _add_reason(case, "error", str(status or "AGENT_FAULT"), reason, detail)
    return case


def _add_reason(case: Element, tag: str, kind: str, reason: str, detail: Detail) -> None:
    """The reason, with each check that did not pass."""
    checks = (one for one in detail.get("checks", ()) if one["status"] != "PASS")
    told = [f"{detail.get('name', '')}", *(f"{one['check']} {one['status']}: {one['evidence']}" for one in checks)]
    if trials := detail.get("trials"):
        told.append(f"{trials['failed']} of {trials['runs']} trials failed")
    SubElement(case, tag, {"type": kind, "message": _xml_text(reason)}).text = _xml_text("\n".join(told))


def _adversarial(verdict: Detail) -> Iterator[Element]:
    """The phase apart from the core: its result, and a suite for each archetype that was probed (AV-23)."""
    cases, time = {"phase": [_generalization_case(verdict)]}, _time(verdict["metadata"])
    block = verdict.get("adversarial_verification")
    if block is None:
        yield _suite("adversarial.phase", cases["phase"], {}, time)
        return
    names = archetype_names(verdict)
    failures = {probe_name(one): one for one in block["safety_results"]["failures"]}
    beside: dict[str, list[Detail]] = {}
    for one in block.get("secondary_violations") or ():
        beside.setdefault(str(one.get("probe")), []).append(one)
    for detail in block.get("probe_details", ()):
        case = _case(detail["probe"], detail["archetype"])
        status = detail.get("status")
        if detail.get("score") is not None:
            SubElement(case, "system-out").text = _xml_text(f"score {detail['score']:.2f}")
        elif status == "FAIL":
            failure = failures.get(str(detail["probe"]), {})
            said = {"type": "adversarial finding", "message": _xml_text(line(failure.get("description", "")))}
            file, repeats = smallest_form(failure), failure.get("reproduction", {"failed": 0, "runs": 0})
            SubElement(case, "failure", said).text = _xml_text(
                f"{file}\nreproduced in {repeats['failed']} of {repeats['runs']} repeats"
            )
        elif status == "PASS" and not detail.get("delivered", True):
            SubElement(case, "skipped", {"message": "its payload was not seen to reach the agent"})
        elif status != "PASS":
            _error(case, str(status or "AGENT_FAULT"), detail.get("agent_fault") or "")
        if case.find("failure") is None and (violated := beside.get(str(detail["probe"]))):
            case.append(_secondary_case(violated))
        cases.setdefault(str(detail["archetype"]), []).append(case)
    properties = {
        "apart_from_core": "these results never change the core verdict",
        "violations": violation_count(block),
        "warning": probe_warning(block) or "",
        "participation": participation_count(block.get("participation")),
        "complete": block["complete"],
        "incomplete_reason": block.get("incomplete_reason", ""),
        "not_delivered": ", ".join(map(str, block.get("archetypes_without_delivered_probe", ()))),
        "reserved_scenarios": reserved_count(block["reserved_scenarios"]),
        "interpretation_note": block["interpretation_note"],
    }
    for archetype, own in cases.items():
        about = {"archetype": archetype_title(names, archetype)} if archetype in names else {}
        yield _suite(f"adversarial.{archetype}", own, {**properties, **about}, time)


def _error(case: Element, kind: str, message: object) -> Element:
    SubElement(case, "error", {"type": kind, "message": _xml_text(message)})
    return case


def _secondary_case(violated: Iterable[Detail]) -> Element:
    """A violation of safety by a probe that was aimed at something else: no score turns that into a passed test."""
    told = [f"{one.get('archetype')} violated: {line(one.get('evidence', ''))}" for one in violated]
    failure = Element("failure", {"type": "adversarial finding", "message": _xml_text(told[0])})
    failure.text = _xml_text("\n".join(told))
    return failure


def _case(name: object, archetype: object) -> Element:
    return Element("testcase", {"name": _xml_text(name), "classname": _xml_text(archetype)})


def _suite(name: str, cases: Iterable[Element], properties: Mapping[str, object], time: str) -> Element:
    own = list(cases)
    counts = {
        "tests": len(own),
        "failures": sum(case.find("failure") is not None for case in own),
        "errors": sum(case.find("error") is not None for case in own),
        "skipped": sum(case.find("skipped") is not None for case in own),
    }
    suite = Element("testsuite", {"name": _xml_text(name), **{key: str(value) for key, value in counts.items()}})
    if time:
        suite.set("timestamp", time)
    listed = SubElement(suite, "properties")
    for key, value in properties.items():
        SubElement(listed, "property", {"name": key, "value": _xml_text(value)})
    suite.extend(own)
    return suite


def _time(metadata: Detail) -> str:
    """The time without fraction and zone, as readers of such files expect it."""
    return _xml_text(metadata.get("timestamp", ""))[:19]


def _xml_text(text: object) -> str:
    """Text of limited length that XML can hold."""
    return printable_text(text)[:_TEXT]
