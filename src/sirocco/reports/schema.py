"""The JSON Schema of the verdict document: the standard's layout, the block of section 6.1, and what Sirocco adds.

Keys may be added freely, so none is forbidden; whatever is listed as required is in every verdict.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sirocco.oasis.agent import DECLARED_OF_AGENTS
from sirocco.oasis.archetype import AggregationMethod, Classification
from sirocco.oasis.participation import Kind, Part, ParticipationCount
from sirocco.oasis.probe import GeneratorMethod
from sirocco.oasis.verdict import Fail, Pass, ProviderFailure, Vacuity
from sirocco.profiles.schema import model_schema, published_schema

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
STATUS: Schema = {"enum": [Pass.status, Fail.status, ProviderFailure.status]}
MAPPING: Schema = {"type": "object"}
SCORE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
WEIGHT: Schema = {"type": "number", "minimum": 0}
TIER: Schema = {"type": "integer", "minimum": 1, "maximum": 3}


def verdict_schema() -> Schema:
    """The schema of `verdict.yaml` and `verdict.json` (CO-11, AV-22)."""
    generator = model_schema(GeneratorMethod)
    del generator["additionalProperties"]
    definitions = generator.pop("$defs")
    document = _record("An OASIS verdict document.", {"verdict": {"$ref": "#/$defs/Verdict"}})
    definitions |= {
        "Verdict": _verdict(),
        "SafetyDetails": _SAFETY_DETAILS,
        "Capability": _CAPABILITY,
        "Metadata": _METADATA,
        "Coverage": _COVERAGE,
        "ScenarioDetail": _SCENARIO_DETAIL,
        "Participation": _PARTICIPATION,
        "ParticipationCount": _PARTICIPATION_COUNT,
        "AdversarialVerification": _ADVERSARIAL_VERIFICATION,
        "ProbeFailure": _PROBE_FAILURE,
        "Generator": generator,
    }
    return published_schema("verdict", {"title": "Verdict", **document, "$defs": definitions})


def _record(description: str, required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object with its keys; those of `optional` are present only when they have content."""
    return {
        "type": "object",
        "description": description,
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _by_name(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _verdict() -> Schema:
    """The parts of a verdict; capability is reported after a PASS and only then."""
    verdict = _record(
        "The core result, what it rests on, and the adversarial phase, if one was performed.",
        {
            "safety": _or_null(STATUS),
            "safety_details": {"$ref": "#/$defs/SafetyDetails"},
            "metadata": {"$ref": "#/$defs/Metadata"},
            "coverage": _record(
                "Archetypes evaluated against the tier's minimum.", _both_classes({"$ref": "#/$defs/Coverage"})
            ),
            "excluded_scenarios": _list(
                _record(
                    "A scenario that is NOT_APPLICABLE to the agent as it is configured (CO-08).",
                    {"scenario_id": TEXT, "archetype": TEXT, "category": TEXT, "condition": TEXT},
                )
            ),
            "skipped_scenarios": _list(
                _record("A scenario that was not run.", {"scenario_id": TEXT, "archetype": TEXT, "reason": TEXT})
            ),
            "statements": _list(TEXT),
            "scenario_details": _list({"$ref": "#/$defs/ScenarioDetail"}),
            "participation": _or_null({"$ref": "#/$defs/ParticipationCount"}),
        },
        {
            "capability": {"$ref": "#/$defs/Capability"},
            "adversarial_verification": {"$ref": "#/$defs/AdversarialVerification"},
        },
    )
    after_pass = {"properties": {"safety": {"const": Pass.status}}}
    return verdict | {
        "if": after_pass,
        "then": {"required": ["capability"]},
        "else": {"not": {"required": ["capability"]}},
    }


def _both_classes(schema: Schema) -> dict[str, Schema]:
    return {"safety": schema, "capability": schema}


_LEVEL = _record(
    "How the scenarios of one level ended.",
    {"status": _or_null(STATUS), "total": COUNT, "passed": COUNT, "failed": COUNT, "provider_failure": COUNT},
)
_SAFETY_DETAILS = _record(
    "The safety gate, counted: applicable = passed + failed + provider_failure + agent_fault.",
    {
        "total_scenarios": COUNT,
        "applicable": COUNT,
        "not_applicable": COUNT,
        "passed": COUNT,
        "failed": COUNT,
        "provider_failure": COUNT,
        "agent_fault": COUNT,
        "tolerance_adjusted": COUNT,
        "vacuous_checks": COUNT,
        "vacuity": _record("How many passes rest on which absence.", {str(reason): COUNT for reason in Vacuity}),
        "failures": _list(
            _record("A scenario that FAILed.", {"scenario_id": TEXT, "description": TEXT, "reason": TEXT})
        ),
        "provider_failures": _list(_record("The environment broke.", {"scenario_id": TEXT, "cause": TEXT})),
        "category_results": _by_name(_LEVEL),
        "subcategory_results": _by_name(_by_name(_LEVEL)),
        "human_review": _list(
            _record(
                "A pass under a tolerance above zero, for a human to look at (CO-09).",
                {"scenario_id": TEXT, "result": {"const": Pass.status}},
                {"tolerance": {"type": "number"}, "measured_deviation": {"type": "number"}, "reason": TEXT},
            )
        ),
    },
)
_COVERAGE = _record(
    "Archetypes of one classification.",
    {
        "required_archetypes": COUNT,
        "evaluated_archetypes": COUNT,
        "complete": FLAG,
        "by_category": _by_name(COUNT),
        "required_by_category": _by_name(COUNT),
        "incomplete_because": _list(TEXT),
        "skipped_archetypes": _list(
            _record("An archetype that was not evaluated.", {"archetype": TEXT, "reason": TEXT})
        ),
        "not_measured": _list(TEXT),
    },
    {
        "archetypes": _list(
            _record("An archetype of the profile.", {"archetype": TEXT, "name": TEXT, "category": TEXT})
        ),
        "category_names": _by_name(TEXT),
    },
)
_CAPABILITY = _record(
    "Capability scores; comparable only at the same tier. What gave no score is null and enters no mean (CO-03).",
    {
        "tier": TIER,
        "coverage": {"$ref": "#/$defs/Coverage"},
        "domain_categories": _by_name(
            _record(
                "The archetypes of a category, each the mean of its scenarios, under the profile's aggregation.",
                {
                    "score": _or_null(SCORE),
                    "archetypes_evaluated": COUNT,
                    "maps_to_dimensions": _list(TEXT),
                    "aggregation": _record(
                        "How the archetypes' scores become the category's; a weight that is not given is 1.",
                        {"method": {"enum": [str(method) for method in AggregationMethod]}},
                        {"archetype_weights": _by_name(WEIGHT)},
                    ),
                    "archetypes": _by_name(
                        _record(
                            "Scenarios by id.",
                            {"score": _or_null(SCORE), "scenarios": _by_name(SCORE), "unscored": _list(TEXT)},
                        )
                    ),
                },
            )
        ),
        "core_dimensions": _by_name(_or_null(SCORE)),
        "dimension_details": _by_name(
            _record(
                "Weights over the categories that have a score; the others are missing.",
                {"score": _or_null(SCORE), "category_weights": _by_name(WEIGHT), "missing_categories": _list(TEXT)},
            )
        ),
        "scenarios": _record(
            "Capability scenarios, counted.",
            {"total": COUNT, "scored": COUNT, "undecidable": COUNT, "skipped": COUNT, "not_applicable": COUNT},
        ),
        "undecidable": _list(
            _record(
                "A scenario that nothing can decide for this agent.",
                {"scenario_id": TEXT, "archetype": TEXT, "reason": TEXT},
            )
        ),
        "statement": TEXT,
    },
    {"note": TEXT},
)
_METADATA = _record(
    "Who was evaluated, by what, against what, and how the run can be checked.",
    {
        "agent": TEXT,
        "agent_version": TEXT,
        "agent_configuration": MAPPING,
        "agent_identity": _record(
            "What the agent declares of itself, and whether another model than the declared one answered.",
            {**{name: _or_null(TEXT) for name in DECLARED_OF_AGENTS}, "heterogeneous": FLAG},
            {
                "heterogeneity_detail": _list(
                    _record(
                        "A scenario that another model answered.",
                        {"scenario_id": TEXT, "declared_model": _or_null(TEXT), "observed_model": TEXT},
                    )
                )
            },
        ),
        "agent_isolation": TEXT,
        "domain_profile": TEXT,
        "domain_profile_version": TEXT,
        "domain_profile_digest": DIGEST,
        "oasis_core_version": TEXT,
        "environment": _record(
            "The environment and its provider.",
            {
                "provider": TEXT,
                "provider_version": TEXT,
                "tier": TIER,
                "conformance_check": TEXT,
                "comparison": TEXT,
                "tier_evidence": _record(
                    "What an environment of the run showed of the claimed tier, before the first scenario (CO-14).",
                    {
                        "verified": FLAG,
                        "measured": _by_name(COUNT),
                        "interfaces": _list(TEXT),
                        "demands": _list(
                            _record(
                                "One demand of the tier; met is null if unknown.",
                                {"demand": TEXT, "found": TEXT, "met": _or_null(FLAG)},
                            )
                        ),
                        "not_measured": _list(TEXT),
                    },
                    {"fault": TEXT},
                ),
            },
        ),
        "scenario_count": _record("Scenarios that ran.", _both_classes(COUNT)),
        "configuration_coverage": _record(
            "How many scenarios apply to the agent as it is configured (CO-08).",
            {
                "total_scenarios": COUNT,
                "applicable": COUNT,
                "not_applicable": COUNT,
                "not_applicable_by_category": _by_name(COUNT),
                "warnings": _list(TEXT),
            },
        ),
        "seed": {"type": "string", "pattern": "^-?0x[0-9a-f]+$"},
        "seed_source": TEXT,
        "evaluation_mode": _record(
            "Whether everything that the tier asks for was evaluated.",
            {"complete": FLAG, "incomplete_because": _list(TEXT), "filters": MAPPING},
            {"planned": _by_name(COUNT)},
        ),
        "aborted": FLAG,
        "core_digest": DIGEST,
        "evaluator": TEXT,
        "evaluation_implementation": _record("What evaluated.", {"name": TEXT, "version": TEXT}),
        "timestamp": TIME,
        "finished": TIME,
        "duration": _or_null({"type": "number", "minimum": 0, "description": "Seconds from the start to the end."}),
        "config_hash": DIGEST,
        "evidence_root": DIGEST,
    },
    {
        "abort_reason": TEXT,
        "attached_core": _record(
            "The document that the core verdict is taken from, if the core was run elsewhere.",
            {"document": DIGEST, "runner": TEXT, "evaluator": TEXT, "date": TEXT, "core_digest": DIGEST},
        ),
        "uncounted_units": _list(TEXT),
        "agent_description": TEXT,
        "agent_tools": _list(TEXT),
        "agent_mode": _or_null(TEXT),
    },
) | {
    "if": {"properties": {"aborted": {"const": True}}},
    "then": {"required": ["abort_reason"]},
}
_PARTICIPATION_COUNT = _record(
    "How the agent took part in safety units that were judged: units = acted + did_nothing + not_heard + unknown. Only "
    "of an agent of the kind `able` does a PASS say how it acts (SI-12); docs/reports.md has the rule.",
    {
        "kind": {"enum": [*map(str, Kind)]},
        **{field.name: COUNT for field in fields(ParticipationCount) if field.name != "untold"},
    },
    # Verdicts of earlier versions do not have it.
    {"untold": COUNT},
)
_PARTICIPATION = _record(
    "What the agent did in one unit, as the environment recorded it; no verdict depends on it.",
    {
        "part": {"enum": [*map(str, Part)]},
        "calls": COUNT,
        "successful_calls": COUNT,
        "reads": COUNT,
        "changes": COUNT,
        "task_operations": COUNT,
        "task_operations_done": COUNT,
        "task_carried_out": _or_null(FLAG),
        "payload_delivered": _or_null(FLAG),
        "unheard_calls": COUNT,
    },
    {"unknown": TEXT},
)
_CHECKS = _list(
    _record(
        "What one check found, and the evidence that decided it.",
        {
            "check": TEXT,
            "archetype": TEXT,
            "status": STATUS,
            "evidence": TEXT,
            "vacuous": {"enum": [*map(str, Vacuity), None]},
        },
        {"undecidable": TEXT, "denied_attempt": FLAG},
    )
)
_DELIVERY = _record(
    "Whether the text of one stimulus reached the agent, by the surface on which it waited.",
    {"stimulus": COUNT, "surface": _or_null(TEXT), "delivered": _or_null(FLAG)},
)
_TRIALS = _record(
    "Several runs of one scenario: one FAIL is a FAIL; the rate is that of failures among those that were judged.",
    {
        "runs": COUNT,
        "passed": COUNT,
        "failed": COUNT,
        "failure_rate": _or_null(SCORE),
        "decided_by": TEXT,
        "units": _by_name(_or_null(STATUS)),
    },
)
_SCENARIO_DETAIL = _record(
    "Why one scenario has this verdict.",
    {
        "scenario_id": TEXT,
        "name": TEXT,
        "classification": {"enum": [str(kind) for kind in Classification]},
        "category": TEXT,
        "subcategory": _or_null(TEXT),
        "archetype": TEXT,
        "safety_tolerance": _or_null({"type": "number"}),
        "status": _or_null(STATUS),
        "checks": _CHECKS,
        "secondary": _CHECKS,
        "payload": _record(
            "Whether the adversarial text reached the agent, the goal was attempted, the goal took effect.",
            {"delivered": _or_null(FLAG), "attempted": FLAG, "effected": FLAG, "stimuli": _list(_DELIVERY)},
        ),
        "stimuli": _list(
            _record("A stimulus, and when it was applied; null when never.", {"type": TEXT, "applied": _or_null(TEXT)})
        ),
        "evidence_sources": _by_name(_record("Where an observation came from.", {"type": TEXT, "status": TEXT})),
        "agent_fault": _or_null(TEXT),
        "participation": _or_null({"$ref": "#/$defs/Participation"}),
        "observed_model": _or_null(TEXT),
        "session_id": _or_null(TEXT),
        "non_scoring_metadata": _record(
            "How much work it was; no score depends on it.",
            {
                "steps": COUNT,
                "tokens": _or_null(COUNT),
            },
            {"duration": _or_null({"type": "number", "minimum": 0})},
        ),
    },
    {
        "evidence_artifact": TEXT,
        "reason": TEXT,
        "score": _or_null(SCORE),
        "band": _or_null(TEXT),
        "lowest_band": FLAG,
        "score_evidence": TEXT,
        "bands": _list(_record("A band of the archetype, best first.", {"band": TEXT, "score": {}})),
        "undecidable": TEXT,
        "deviation": MAPPING,
        "trials": _TRIALS,
        "custom": {"const": True},
    },
) | {
    "if": {"properties": {"status": {"const": Pass.status}}},
    "else": {"required": ["reason"]},
    "allOf": [
        {
            "if": {"properties": {"classification": {"const": str(Classification.CAPABILITY)}}},
            "then": {"required": ["score", "band", "bands"]},
            "else": {"not": {"required": ["score"]}},
        }
    ],
}
_REPRODUCTION = _record("Runs of the same probe in fresh environments.", {"runs": COUNT, "failed": COUNT})
_PROBE_FAILURE = _record(
    "A probe that FAILed, or landed in the lowest band, and the file that holds it.",
    {
        "primary_archetype": TEXT,
        "secondary_archetypes": _list(TEXT),
        "description": TEXT,
        "probe_serialized": TEXT,
        "lineage": _list(TEXT),
        "reproduction": _REPRODUCTION,
    },
    {"probe_minimal": TEXT},
)
_OUTCOME = _record("The result of a scenario.", {"status": _or_null(TEXT)}, {"score": _or_null(SCORE)})
_RERUNS = _record(
    "Published scenarios that were run again among the probes: not probes, and in no other count.",
    {
        "asked": COUNT,
        "run": COUNT,
        "different": COUNT,
        "pairs": _list(
            _record(
                "One of them, with the same scenario in the core.",
                {
                    "scenario_id": TEXT,
                    "unit": TEXT,
                    "status": {"enum": ["same", "different", "undecided"]},
                    "core": _or_null(_OUTCOME),
                    "rerun": _OUTCOME,
                },
            )
        ),
    },
)
_INTERVAL = {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 2, "maxItems": 2}
_RATE = _record(
    "Failures among delivered safety probes of the fixed arm; `not_computed` says why there is no interval.",
    {"run": COUNT, "failed": COUNT},
    {"interval": _INTERVAL, "rules_out": SCORE, "not_computed": TEXT},
)
_BESIDE_CORE = _by_name(
    _record(
        "The core's scenarios, for comparison with the probes.",
        {"core": _record("Published scenarios.", {"scenarios": COUNT, "failed": COUNT}), "probes": _RATE},
    )
)
_GENERALIZATION = _record(
    "What the probes say about the violation rate, and what they leave open (SI-04); docs/reports.md has each figure.",
    {},
    {
        "withheld": TEXT,
        "confidence": SCORE,
        "method": {"enum": ["clopper_pearson", "confidence_sequence"]},
        "left_to_the_adaptive_arm": COUNT,
        "overall": _RATE,
        "categories": _BESIDE_CORE,
        "archetypes": _BESIDE_CORE,
        "single_hole": _by_name(
            _record(
                "The chance that these probes meet an agent with one hole, failing in it always or every other time.",
                {},
                {"offered": COUNT, "probed": COUNT, "chance_of_meeting": _by_name(SCORE), "not_computed": TEXT},
            )
        ),
        "distance": _record(
            "Failures against the distance from what is published.",
            {},
            {"ranges": _list(MAPPING), "not_computed": TEXT},
        ),
        "failure_modes": _record(
            "Kinds of failure seen, and about how many such probes can find (Chao1).",
            {"seen": COUNT},
            {
                "seen_once": COUNT,
                "seen_twice": COUNT,
                "estimate": {"type": "number", "minimum": 0},
                "interval": _INTERVAL,
                "not_computed": TEXT,
            },
        ),
        "over_refusal": MAPPING,
    },
)
_MEMORIZATION_TEST = {
    "anyOf": [
        _record("Why there is no test.", {"not_computed": TEXT}),
        _record(
            "The p-value, never without the power.",
            {
                "method": TEXT,
                "p_value": SCORE,
                "is_significant": FLAG,
                "significance": SCORE,
                "power": _record("For an agent that loses that share.", {"drop": SCORE, "value": SCORE}),
                "detectable_drop": _record("What is noticed that well.", {"power": SCORE, "drop": _or_null(SCORE)}),
            },
        ),
    ]
}
_PAIRS = _record(
    "Published scenarios under other names, with re-runs of their originals: not probes, and in no other count.",
    {"asked": COUNT},
    {
        "withheld": TEXT,
        "made": COUNT,
        "compared": COUNT,
        "worse": COUNT,
        "better": COUNT,
        "same": COUNT,
        "undecided": COUNT,
        "test": _MEMORIZATION_TEST,
        "pairs": _list(
            _record(
                "One scenario in both forms.",
                {
                    "scenario_id": TEXT,
                    "units": _list(TEXT),
                    "status": {"enum": ["worse", "better", "same", "undecided"]},
                    "original": _OUTCOME,
                    "renamed": _OUTCOME,
                },
            )
        ),
    },
)
_ADVERSARIAL_VERIFICATION = _record(
    "The adversarial phase; it never changes the core verdict (AV-12).",
    {
        "performed": {"const": True},
        "complete": FLAG,
        "generator": {"$ref": "#/$defs/Generator"},
        "planned": COUNT,
        "executed": COUNT,
        "delivered": COUNT,
        "archetypes_without_delivered_probe": _list(TEXT),
        "admission": _record(
            "Drafts, and why some did not become probes.",
            {"drafted": COUNT, "admitted": COUNT, "rejected": _by_name(COUNT)},
            {
                "unanswered": COUNT,
                "overruled": COUNT,
                "generator_fault": _record("Why the generator stopped being asked.", {"kind": TEXT, "problem": TEXT}),
            },
        ),
        "probe_summary": _record(
            "Probes that ran.",
            {"total_probes": COUNT, "safety_probes": COUNT, "capability_probes": COUNT, "composition_probes": COUNT},
        ),
        "safety_results": _record(
            "Safety probes: total = passed + failed + provider_failure + agent_fault (AV-15).",
            {
                "total": COUNT,
                "passed": COUNT,
                "failed": COUNT,
                "provider_failure": COUNT,
                "agent_fault": COUNT,
                "any_safety_violation": FLAG,
                "failures": _list({"$ref": "#/$defs/ProbeFailure"}),
            },
        ),
        "capability_results": _record(
            "Capability probes.",
            {
                "total": COUNT,
                "mean_score": _or_null(SCORE),
                "per_archetype": _by_name(
                    _record("The probes of one archetype.", {"probes": COUNT, "mean": _or_null(SCORE)})
                ),
            },
            {"failed": COUNT, "failures": _list({"$ref": "#/$defs/ProbeFailure"})},
        ),
        "reserved_scenarios": _record(
            "Counts, and nothing else about them (AV-21).",
            {"executed": COUNT, "passed": COUNT, "failed": COUNT},
            {
                "provider_failure": COUNT,
                "agent_fault": COUNT,
                "acted": COUNT,
                "violated": COUNT,
                "categories": _by_name(
                    _record(
                        "A category of which at least five ran.", {"executed": COUNT, "passed": COUNT, "failed": COUNT}
                    )
                ),
                "merkle_roots": _list(TEXT),
            },
        ),
        "participation": {"$ref": "#/$defs/ParticipationCount"},
        "findings": _list(
            _record(
                "Failures of one archetype in the same checks on the same surface, and how to run one again.",
                {"archetype": TEXT, "failing_checks": _list(TEXT), "probes": _list(TEXT), "confirmed": COUNT},
                {
                    "surface": TEXT,
                    "techniques": _list(TEXT),
                    "minimal": TEXT,
                    "reproduction": _REPRODUCTION,
                    "explanation": MAPPING,
                    "replay": TEXT,
                },
            )
        ),
        "certification_recommendation": TEXT,
        "interpretation_note": TEXT,
    },
    {
        "incomplete_reason": TEXT,
        "reserved_warning": TEXT,
        "core_incomplete": FLAG,
        "probe_details": _list(MAPPING),
        "schedule": _record(
            "What assigned the places of the plan.",
            {"type": TEXT},
            {
                "remark": TEXT,
                "arms": MAPPING,
                "learned_from": COUNT,
                "turns": COUNT,
                "pursued": COUNT,
                "got_further": COUNT,
                "followed": COUNT,
            },
        ),
        "coverage": _record(
            "What was put to the agent; `thin` has the archetypes with less than half of a fair share of the probes.",
            {},
            {"exhausted": _list(TEXT), "not_offered": _list(TEXT), "thin": _by_name(COUNT)},
        ),
        "agent_calls": MAPPING,
        "generators": _list(MAPPING),
        "usage": _record(
            "Tokens and costs by who took them, as agent and generators say; the limits that were set.",
            {},
            {"agent": MAPPING, "generator": MAPPING, "limits": MAPPING},
        ),
        "secondary_violations": _list(MAPPING),
        "human_review": _list(MAPPING),
        "generalization": _GENERALIZATION,
        "reruns": _RERUNS,
        "pairs": _PAIRS,
        "until": _record(
            "By which rules the run could end early, and which was met.",
            {"rules": _list(TEXT), "met": _or_null(TEXT)},
        ),
    },
) | {
    "if": {"properties": {"complete": {"const": False}}},
    "then": {"required": ["incomplete_reason"]},
}
