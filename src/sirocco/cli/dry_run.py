"""`sirocco run --dry-run`: what would run, and the least and greatest number of agent calls."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from sirocco.campaign.phase import AdversarialPhase
from sirocco.cli.terminal import console, count_phrase, one_line, print_json, print_table
from sirocco.oasis.archetype import Classification
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.runner.planned import reasons_to_skip
from sirocco.runner.run import ExtensionPolicy
from sirocco.wiring.assemble import Assembly
from sirocco.wiring.config import RunConfig

_REPEATED = 2
"""A unit is run once more, in a fresh environment, if the agent breaks in it."""


@dataclass(frozen=True, slots=True)
class PlannedPhase:
    """One phase: its number of units, and bounds for the agent calls in it."""

    phase: str
    units: int
    least: int
    most: int
    when: str = ""
    scenarios: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The phase as data."""
        calls = {"least": self.least, "most": self.most}
        return {
            "phase": self.phase,
            "units": self.units,
            "when": self.when,
            "agent_calls": calls,
            "scenarios": list(self.scenarios),
        }


@dataclass(frozen=True, slots=True)
class DryRun:
    """Everything that is known before any agent is called."""

    phases: tuple[PlannedPhase, ...]
    skipped: tuple[tuple[str, str], ...]
    spread: Mapping[str, int]
    """How many probes are planned for each archetype."""

    def document(self, assembly: Assembly, config: RunConfig) -> dict[str, Any]:
        """The plan as data."""
        profile = assembly.core.profile.document
        return {
            "dry_run": True,
            "agent": config.agent,
            "provider": config.provider,
            "profile": {"id": profile.id, "version": profile.version},
            "tier": config.tier,
            "filters": dict(assembly.selection.filters),
            "phases": [phase.document() for phase in self.phases],
            "probes_by_archetype": dict(self.spread),
            "remarks": list(config.remarks),
            "skipped": [{"scenario_id": name, "reason": reason} for name, reason in self.skipped],
            "agent_calls": {
                "least": sum(phase.least for phase in self.phases),
                "most": sum(phase.most for phase in self.phases),
            },
        }


def dry_run(assembly: Assembly, config: RunConfig) -> DryRun:
    """What the run would consist of; only the agent knows whether a scenario applies to it, and it is not asked."""
    core = assembly.core
    own = core.scenarios if core.attached is None else ()
    labelled = [*((bound, "") for bound in own), *((bound, " (custom)") for bound in core.custom)]
    skipped: list[tuple[str, str]] = []
    runnable: list[tuple[BoundScenario, str]] = []
    for bound, label in labelled:
        if reason := _skip_reasons(bound, assembly):
            skipped.append((bound.scenario.id, reason))
        else:
            runnable.append((bound, label))
    phases = [_core_phase(kind, runnable, core.trials, is_gated=not core.is_without_gate) for kind in Classification]
    return DryRun((*phases, *_extensions(assembly, config)), tuple(skipped), _planned_spread(assembly))


def _planned_spread(assembly: Assembly) -> dict[str, int]:
    """The plan of the adversarial phase by archetype; for planning, the generator only states what it can make."""
    phases = (phase for phase in assembly.extensions if isinstance(phase, AdversarialPhase))
    return next((asyncio.run(phase.planned_spread()) for phase in phases if phase.settings.probes), {})


def _skip_reasons(bound: BoundScenario, assembly: Assembly) -> str:
    scenario = bound.scenario
    reasons = list(reasons_to_skip(scenario, assembly.core.execution.provider))
    if scenario.tier > assembly.core.tier:
        reasons.insert(0, f"it needs tier {scenario.tier}")
    return "; ".join(reasons)


def _core_phase(
    kind: Classification, runnable: Iterable[tuple[BoundScenario, str]], trials: int, *, is_gated: bool
) -> PlannedPhase:
    own = [(bound, label) for bound, label in runnable if bound.scenario.classification is kind]
    is_sure = kind is Classification.SAFETY or not is_gated
    least = sum(len(bound.scenario.prompts) for bound, _ in own if not bound.scenario.applicability) * trials
    most = sum(bound.scenario.turns for bound, _ in own) * trials * _REPEATED
    names = tuple(bound.scenario.id + label for bound, label in own)
    when = "" if is_sure else "after a PASS"
    return PlannedPhase(str(kind), len(own) * trials, least if is_sure else 0, most, when, names)


def _has_probes(config: RunConfig) -> bool:
    return config.adversarial is not ExtensionPolicy.OFF and config.probes > 0


def _extensions(assembly: Assembly, config: RunConfig) -> Iterable[PlannedPhase]:
    if config.adversarial is ExtensionPolicy.OFF:
        return
    when = "after a PASS" if config.adversarial is ExtensionPolicy.ON_PASS else "after the core"
    most = config.call_limit * _REPEATED if _has_probes(config) else 0
    units = config.probes + _reruns(assembly, config) if _has_probes(config) else 0
    yield PlannedPhase("adversarial", units, 0, most, when)
    if plan := assembly.reserved_plan:
        again = config.reruns_among_reserved(plan.units) if assembly.core.scenarios else 0
        longest = max((bound.scenario.turns for bound in assembly.core.scenarios), default=0)
        yield PlannedPhase("reserved", plan.units + again, 0, (plan.turns + again * longest) * _REPEATED, when)


def _reruns(assembly: Assembly, config: RunConfig) -> int:
    """How many published scenarios are run again, plus their renamed forms, if all can be made."""
    published = len(assembly.core.scenarios)
    pairs = min(config.pairs, published)
    return max(config.wanted_reruns, pairs) + pairs if published else 0


def show_dry_run(assembly: Assembly, config: RunConfig, *, as_json: bool, verbose: bool) -> None:
    """Print the plan; nothing was started to make it."""
    plan = dry_run(assembly, config)
    document = plan.document(assembly, config)
    if as_json:
        print_json(document)
        return
    out, profile = console(), document["profile"]
    out.print(one_line(f"would evaluate {config.agent} on {profile['id']} {profile['version']}, tier {config.tier}"))
    rows = [
        (
            f"  {phase.phase}",
            count_phrase(phase.units, "unit"),
            f"{phase.least} to {phase.most} agent calls",
            phase.when,
        )
        for phase in plan.phases
    ]
    calls = document["agent_calls"]
    rows.append(("  in all", "", f"{calls['least']} to {calls['most']} agent calls", ""))
    print_table(out, ("", "", "", ""), rows)
    limit = f", so up to twice --max-agent-calls {config.call_limit}" if _has_probes(config) else ""
    out.print(f"  the most counts each unit twice: one in which the agent breaks is run once more{limit}")
    for name, value in document["filters"].items():
        out.print(Text(one_line(f"incomplete: only a selection would be run: {name} {value}"), style="yellow"))
    for remark in document["remarks"]:
        out.print(Text(one_line(f"warning: {remark}"), style="yellow"))
    for name, reason in plan.skipped:
        out.print(Text(one_line(f"  skipped {name}: {reason}"), style="yellow"))
    if verbose:
        for phase in plan.phases:
            for name in phase.scenarios:
                out.print(one_line(f"  {phase.phase} {name}"))
        for archetype, number in plan.spread.items():
            out.print(one_line(f"  probes for {archetype} {number}"))
    out.print("nothing was started")
