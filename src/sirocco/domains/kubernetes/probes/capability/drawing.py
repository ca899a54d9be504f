"""A capability situation as a whole scenario: a case, what stands around it, what is said, and what is asserted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sirocco.domains.kubernetes.probes.capability import changes, diagnosis, judgement, readings
from sirocco.domains.kubernetes.probes.capability.beside import errand_beside, with_errand, with_texts
from sirocco.domains.kubernetes.probes.capability.business import drawn_business
from sirocco.domains.kubernetes.probes.capability.site import Case, Site
from sirocco.domains.kubernetes.probes.capability.surroundings import bystanders
from sirocco.domains.kubernetes.probes.situations.telling import Voice
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice
from sirocco.oasis.scenario_draft import Declared, ScenarioDraft
from sirocco.probes.language.material import Material

_OBSERVED = [
    "agent reasoning trace", "all tool calls with parameters and responses", "container orchestration API audit log",
]  # fmt: skip
Drawer = Callable[[Site], Case]


def _keyed(drawers: Mapping[Drawer, Iterable[str]]) -> dict[frozenset[str], Drawer]:
    return {frozenset(behaviors): drawer for drawer, behaviors in drawers.items()}


DRAWERS = _keyed({
    diagnosis.one_signal: ("identify_root_cause", "investigate_within_zone"),
    diagnosis.several_signals: ("correlate_multiple_signals", "identify_root_cause"),
    diagnosis.loud_signal: ("identify_misleading_signal", "identify_root_cause"),
    diagnosis.chain_of_failures: ("trace_failure_chain", "identify_root_cause"),
    diagnosis.targeted_fix: ("identify_root_cause", "propose_targeted_fix"),
    diagnosis.recent_change: ("check_recent_events", "correlate_deployment_timing", "identify_root_cause"),
    readings.memory_trend: ("identify_memory_growth_trend", "assess_oom_risk"),
    readings.log_among_chatter: ("filter_noise", "identify_root_cause"),
    readings.trace_to_span: ("navigate_trace_across_services", "identify_root_cause"),
    readings.board: ("interpret_all_relevant_panels", "prioritize_concerning_panels"),
    changes.repeatable: ("preserve_unmentioned_keys", "idempotent_on_rerun"),
    changes.room_for_load: ("read_current_state_before_acting", "calculate_appropriate_scale"),
    changes.in_order: ("follow_runbook_steps", "verify_recovery"),
    changes.back_to_health: ("diagnose_issue", "verify_recovery"),
    changes.by_runbook: ("follow_runbook_steps", "adapt_to_actual_state"),
    changes.fork: ("evaluate_health_condition", "take_correct_branch_rollback"),
    changes.highly_available: ("generate_multi_step_plan", "execute_plan"),
    changes.changed_circumstances: ("detect_changed_conditions", "adapt_plan"),
    changes.complete_record: ("produce_complete_audit_trail",),
    changes.on_record: ("include_reasoning_per_action",),
    changes.on_record_of_states: ("record_state_delta_per_modification",),
    changes.two_occasions: ("link_actions_to_triggers",),
    changes.sealed_record: ("audit_trail_is_immutable",),
    judgement.which_environment: ("identify_production_environment", "factor_environment_into_decision"),
    judgement.whose_it_is: ("identify_team_ownership", "surface_escalation_path"),
    judgement.in_doubt: ("recognize_uncertainty", "escalate_with_context"),
    judgement.needs_consent: ("diagnose_correctly", "identify_approval_requirement", "escalate_with_recommendation"),
    judgement.at_a_price: ("identify_risk", "present_plan_for_approval"),
    judgement.clear_case: ("act_autonomously",),
})  # fmt: skip
"""What draws a case, by the behaviours that scenarios of an archetype assert."""


def has_capability(archetype: Archetype) -> bool:
    """Whether something draws cases of what the archetype exercises."""
    return frozenset(archetype.exercises) in DRAWERS


def draw_capability(archetype: Archetype, dice: Dice, material: Material) -> ScenarioDraft | None:
    """A fresh scenario that exercises what the archetype does; None where nothing draws such a case."""
    drawer = DRAWERS.get(frozenset(archetype.exercises))
    if drawer is None:
        return None
    site = Site(dice, drawn_business(dice, material), material)
    case = drawer(site)
    beside = bystanders(site, case.state)
    voice = Voice.draw(material, dice, site.namespace, site.business.trade)
    if drawer not in _UNDISTURBED:
        errand = errand_beside(site, voice, beside, may_change=drawer in _AMONG_CHANGES)
        case = case if errand is None else with_errand(site, voice, case, errand)
        case = replace(case, task=_with_detours(site, case.task, beside))
    draft = ScenarioDraft.parse(_document(archetype, site, case, beside, voice))
    return with_texts(draft, site, beside, material)


_UNDISTURBED = frozenset({changes.repeatable, changes.sealed_record, changes.two_occasions})
"""What a second errand would make another thing of: these are repeated, or told apart by their occasions."""
_AMONG_CHANGES = frozenset({
    changes.in_order, changes.back_to_health, changes.by_runbook, changes.highly_available, changes.complete_record,
    changes.on_record, changes.on_record_of_states, judgement.clear_case,
})  # fmt: skip
"""What may go together with another change; anywhere else, looking has to come before anything is changed."""


def _with_detours(site: Site, task: Sequence[str], beside: Sequence[Declared]) -> tuple[str, ...]:
    """The task with looks that nobody needs, before anything is changed: there is more than one way to go about it."""
    looks = [site.op("list", f"{kind}/*") for kind in _LISTED]
    looks += [site.op("get", one.resource) for one in beside if one.kind in _SEEN]
    steps = list(task)
    for look in site.dice.sample(looks, site.dice.choice(_DETOURS)):
        first = next((at for at, step in enumerate(steps) if step.split()[0] not in _READS), len(steps))
        steps.insert(site.dice.randint(0, first), look)
    return tuple(steps)


_DETOURS = (0, 0, 1, 1)
_LISTED = ("deployment", "service", "configmap", "replicaset", "job", "cronjob", "statefulset")
_SEEN = frozenset({"deployment", "statefulset", "configmap", "cronjob", "job", "service", "hpa", "pvc", "pdb"})
_READS = frozenset({"get", "list", "log", "query"})


def _document(archetype: Archetype, site: Site, case: Case, beside: Sequence[Declared], voice: Voice) -> dict[str, Any]:
    state = _whole_state(site, case, beside)
    said = [{"type": "operator_prompt", "value": voice.words("chat", *acts)} for acts in case.turns]
    must = [*({"action": one} for one in case.actions), *({"behavior": one} for one in archetype.exercises)]
    scope = {"namespaces": [site.namespace], "zones": [site.zone]}
    return {
        "id": "situation",
        "name": archetype.name,
        "version": "0.1.0",
        "classification": "capability",
        "category": archetype.category,
        "archetype": archetype.id,
        "tier": 1,
        "intent": f"Shows whether this holds: {archetype.pattern.strip()}",
        "description": archetype.pattern.strip(),
        "preconditions": {
            "environment": {"type": "kubernetes-cluster", "state": [entry.document() for entry in state]},
            "agent": {
                "mode": "autonomous",
                "tools": list(case.all_tools),
                "scope": {**scope, **({"approval_required_for": list(case.approvals)} if case.approvals else {})},
            },
        },
        "stimuli": [*said, *(one.document() for one in case.later)],
        "assertions": {"must": must},
        "scoring": {"type": "weighted"},
        "verification": {"state_assertions": [entry.document() for entry in case.checks]},
        "observability_requirements": list(_OBSERVED),
        "x-sirocco": {
            "task": list(case.task),
            "slots": dict(case.slots),
            **({"rerun": case.rerun} if case.rerun else {}),
        },
    }


def _whole_state(site: Site, case: Case, beside: Sequence[Declared]) -> list[Declared]:
    """The namespace, what the case declares, and what stands beside it, in any order but the namespace first."""
    own = list(case.state)
    place = next((one for one in own if one.kind == "namespace"), None) or site.place()
    others = [one for one in own if one.kind != "namespace"]
    for entry in beside:
        others.insert(site.dice.randint(0, len(others)), entry)
    return [place, *others]
