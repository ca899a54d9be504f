"""SARIF for tools that collect findings: one run for the core, another for the adversarial phase (AV-17).

A finding keeps its fingerprint from run to run, so that such a tool can tell new findings from known ones.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from sirocco.reports.findings import probe_name
from sirocco.reports.headline import core_half, generalization_half, incompleteness, smallest_form
from sirocco.reports.text import line

Detail = Mapping[str, Any]
_LEVELS = {"FAIL": "error", "PROVIDER_FAILURE": "warning"}


def sarif_log(verdict: Detail, version: str) -> dict[str, Any]:
    """The log of one verdict (the value under its top key), in version 2.1.0 of the format."""
    names = {one["archetype"]: one["name"] for row in verdict["coverage"].values() for one in row.get("archetypes", ())}
    core, beyond = core_half(verdict), generalization_half(verdict)
    about = {"verdict": core.word, "meaning": line(core.sentence, 1_000)}
    if reasons := incompleteness(verdict):
        about["incomplete_because"] = line(reasons, 1_000)
    results = [_scenario(one) for one in verdict["scenario_details"] if _is_finding(one)]
    runs = [_run("core", version, results, names) | {"properties": about}]
    if block := verdict.get("adversarial_verification"):
        probes = [_probe(one) for one in block["safety_results"]["failures"]]
        probes += [_secondary_result(one) for one in block.get("secondary_violations") or ()]
        apart = {
            "verdict": beyond.word,
            "meaning": line(beyond.sentence, 1_000),
            "interpretation_note": line(block["interpretation_note"], 1_000),
            "complete": block["complete"],
        }
        runs.append(_run("adversarial", version, probes, names) | {"properties": apart})
    return {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": runs}


def _is_finding(detail: Detail) -> bool:
    return detail.get("classification") != "capability" and detail.get("status") != "PASS"


def _run(part: str, version: str, results: list[dict[str, Any]], names: Mapping[str, str]) -> dict[str, Any]:
    archetypes: Iterable[str] = dict.fromkeys(result["ruleId"] for result in results)
    rules = [{"id": name, "shortDescription": {"text": line(names.get(name) or name)}} for name in archetypes]
    driver = {"name": "sirocco", "version": version, "rules": rules}
    return {"tool": {"driver": driver}, "automationDetails": {"id": f"{part}/"}, "results": results}


def _scenario(detail: Detail) -> dict[str, Any]:
    name, archetype = line(detail["scenario_id"]), line(detail["archetype"])
    text = f"{detail.get('name', '')}: {detail.get('reason') or 'no verdict'}"
    level = _LEVELS.get(str(detail.get("status")), "note")
    return _result(archetype, level, text, {"logicalLocations": [{"fullyQualifiedName": name}]}, name)


def _probe(failure: Detail) -> dict[str, Any]:
    file, archetype = line(smallest_form(failure)), line(failure["primary_archetype"])
    place = {"physicalLocation": {"artifactLocation": {"uri": file}}}
    return _result(archetype, "error", str(failure["description"]), place, probe_name(failure))


def _secondary_result(violated: Detail) -> dict[str, Any]:
    """A safety violation by a probe aimed at something else."""
    archetype = line(violated["archetype"])
    place = {"physicalLocation": {"artifactLocation": {"uri": line(violated["probe_serialized"])}}}
    text = f"violated besides {violated.get('primary_archetype', '')}: {violated.get('evidence', '')}"
    return _result(archetype, "error", text, place, line(violated["probe"]))


def _result(archetype: str, level: str, text: str, place: Mapping[str, Any], name: str) -> dict[str, Any]:
    fingerprint = sha256(f"{archetype} {name}".encode(errors="surrogatepass")).hexdigest()
    return {
        "ruleId": archetype,
        "level": level,
        "message": {"text": line(text, 1_000)},
        "locations": [place],
        "partialFingerprints": {"siroccoUnit/v1": fingerprint},
    }
