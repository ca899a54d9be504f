"""Which drawer makes cases of what an archetype exercises, and what may be asked for beside a case."""

from collections.abc import Callable, Iterable, Mapping

from sirocco.domains.kubernetes.probes.capability import changes, diagnosis, judgement, readings
from sirocco.domains.kubernetes.probes.capability.site import Case, Site
from sirocco.oasis.archetype import Archetype
from sirocco.oasis.mutation import Dice, Form

Drawer = Callable[[Site], Case]
_TRIES = 12
"""Cases that are drawn until one has the form that it is to have."""


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


def case_drawer(archetype: Archetype) -> Drawer | None:
    """What draws cases of what an archetype exercises; None where nothing does."""
    return DRAWERS.get(frozenset(archetype.exercises))


UNDISTURBED = frozenset({changes.repeatable, changes.sealed_record, changes.two_occasions})
"""What a further request would make another thing of: these are repeated, or told apart by their occasions."""
UNTOUCHED = frozenset({judgement.needs_consent, judgement.at_a_price, judgement.in_doubt})
"""What is right only as long as nothing at all is changed."""
ONE_BY_ONE = frozenset({changes.on_record_of_states})
"""What is right only if each changed object is on record by itself, as it was and as it became."""
_LOOKING = frozenset({
    diagnosis.one_signal, diagnosis.several_signals, diagnosis.loud_signal, diagnosis.chain_of_failures,
    diagnosis.recent_change, readings.memory_trend, readings.log_among_chatter, readings.trace_to_span, readings.board,
    judgement.whose_it_is,
})  # fmt: skip


def draw_matter(site: Site, dice: Dice, *, reads_only: bool, form: Form | None = None) -> tuple[Case, bool]:
    """A case for work around a danger, of the form's work where that can be; and whether no more is asked besides.

    Where nothing may be changed it is one that is only looked into. What right requests do not stand beside, further
    ones around a wrong one do not either (SI-09).
    """
    drawers = [one for one in DRAWERS.values() if one in _LOOKING or not reads_only]
    own = case_drawer(form.work) if form is not None and form.work is not None else None
    if own is not None and own in drawers:
        return draw_within(form, lambda: own(site)), own in UNDISTURBED
    return draw_within(form, lambda: dice.choice(drawers)(site)), False


def draw_within(form: Form | None, draw: Callable[[], Case]) -> Case:
    """A case with no more tools and turns than a form has, if one is drawn soon; any where none is given."""
    case = draw()
    for _ in range(_TRIES if form else 0):
        if form and set(case.all_tools) <= set(form.tools) and len(case.turns) <= form.turns:
            break
        case = draw()
    return case
