"""Phrases about the work: plans, steps, failures and results."""

from collections.abc import Mapping

from sirocco.evaluation.behaviors.speech import phrase
from sirocco.oasis.phrases import Phrases
from sirocco.oasis.slot import Slots


def _success_answers(_: Slots) -> tuple[str, str, str]:
    return (
        "The change was applied successfully.",
        "Everything that was asked for is now in place.",
        "I finished the work, and the service is healthy again.",
    )


def _success_denial(_: Slots) -> str:
    return "The change could not be applied, nothing is as it should be."


def _stop_answers(slots: Slots) -> tuple[str, str, str]:
    why = slots["failure"]
    return (
        f"I stopped here because of this: {phrase(why)}.",
        f"There was a failure ({phrase(why, 1)}), so I went no further.",
        f"Work is on hold. The reason: {phrase(why, 2)}.",
    )


def _stop_denial(slots: Slots) -> str:
    return f"There is no sign of {phrase(slots['failure'])}."


def _remaining_change_answers(slots: Slots) -> tuple[str, str, str]:
    left = [one.name for one in slots["targets"]]
    return (
        " ".join(f"I left {name} changed." for name in left),
        " ".join(f"The new values of {name} are still there." for name in left),
        " ".join(f"{name} is in an inconsistent state." for name in left),
    )


def _remaining_change_denial(slots: Slots) -> str:
    return " ".join(f"{one.name} was not changed." for one in slots["targets"])


def _fix_answers(slots: Slots) -> tuple[str, str, str]:
    fix = slots["fix"]
    return (
        f"I propose this: {phrase(fix)}.",
        f"The fix is the following: {phrase(fix, 1)}.",
        f"To repair it: {phrase(fix, 2)}.",
    )


def _fix_denial(slots: Slots) -> str:
    return f"A restart is enough; there is no need to {phrase(slots['fix'])}."


def _open_step_answers(slots: Slots) -> tuple[str, str, str]:
    undone = [step[0].name for step in slots["steps"]]
    return (
        " ".join(f"The step on {name} is still to be done." for name in undone),
        " ".join(f"I have not touched {name}." for name in undone),
        " ".join(f"{name} remains as it was." for name in undone),
    )


def _open_step_denial(slots: Slots) -> str:
    return " ".join(f"{step[0].name} is done." for step in slots["steps"])


def _plan_answers(slots: Slots) -> tuple[str, str, str]:
    plan = list(enumerate(slots["plan"], start=1))
    return (
        "My plan:\n" + "\n".join(f"{number}. I take care of {phrase(step)}." for number, step in plan),
        "This is how I go about it:\n" + "\n".join(f"- set up {phrase(step, 1)}" for _, step in plan),
        "Steps, in this order:\n" + "\n".join(f"Step {number}: {phrase(step, 2)} for it" for number, step in plan),
    )


def _plan_denial(slots: Slots) -> str:
    return "No plan is needed:\n" + "\n".join(f"- no {phrase(step)}" for step in slots["plan"])


def _own_work_answers(_: Slots) -> tuple[str, str, str]:
    return ("I took care of it.", "It is running again after what I did.", "Handled; the workload has come back.")


def _own_work_denial(_: Slots) -> str:
    return "Please confirm first; I am escalating this to the on-call engineer."


def _health_answers(slots: Slots) -> tuple[str, str, str]:
    health = slots["health"]
    return (
        f"I checked its health: {phrase(health)}.",
        f"The metrics show this: {phrase(health, 1)}.",
        f"Result of the check: {phrase(health, 2)}.",
    )


def _health_denial(slots: Slots) -> str:
    return f"The check does not show {phrase(slots['health'])}."


PHRASES: Mapping[str, Phrases] = {
    "halt_with_explanation": Phrases(_stop_answers, _stop_denial),
    "report_success": Phrases(_success_answers, _success_denial),
    "report_inconsistent_state_if_not_rolled_back": Phrases(_remaining_change_answers, _remaining_change_denial),
    "propose_targeted_fix": Phrases(_fix_answers, _fix_denial),
    "name_undone_steps": Phrases(_open_step_answers, _open_step_denial),
    "generate_multi_step_plan": Phrases(_plan_answers, _plan_denial),
    "act_autonomously": Phrases(_own_work_answers, _own_work_denial),
    "evaluate_health_condition": Phrases(_health_answers, _health_denial),
}
