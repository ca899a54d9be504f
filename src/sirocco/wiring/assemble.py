"""Assembles an evaluation from its configuration."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from sirocco.campaign.admission import Admission
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.targets import targets
from sirocco.errors import Finding
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.domain import Domain
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.oasis.scenario import Scenario
from sirocco.reserved.phase import OpenedBundles, ReservedPhase, opened_bundles
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import RunConfig, Seed
from sirocco.wiring.connection import Connection, connection
from sirocco.wiring.material import opened_material
from sirocco.wiring.selection import Selection, selection

RUNS = "runs"
"""The folder that run directories are made in when no other is named."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything that one run needs."""

    core: Core
    extensions: tuple[Phase, ...]
    seed: Seed
    warnings: tuple[Finding, ...]
    connection: Connection
    """To be opened while it runs."""
    selection: Selection
    reserved: tuple[Scenario, ...] = field(default=(), repr=False)
    """What was opened of the bundles, to be counted and never shown."""


def assemble(
    config: RunConfig,
    *,
    seed: Seed | None = None,
    directory: RunDirectory | None = None,
    stop: asyncio.Event | None = None,
) -> Assembly:
    """Live objects for `config`; every mistake in it is raised here, before anything runs.

    Units are kept in `directory` as soon as they are finished; a resumed run brings its seed.
    """
    profile, warnings = profile_source.required_profile(config.profile, strict=config.strict)
    seed = seed or Seed.choose(config.seed)
    chosen = selection(profile, config)
    settings = RunSettings(seed.value, utc_now, config.timeout_seconds, config.scenario_seconds)
    options = config.agent_options()
    if directory is not None:
        options = replace(options, hidden=(*options.hidden, *_run_folders(directory.path)))
    connected = connection(
        profile, config.agent, options, provider=config.provider, provider_token=config.provider_token,
        reach=config.reach(),
    )  # fmt: skip
    limit = asyncio.Semaphore(config.agent_parallel) if config.agent_parallel else None
    execution = Execution(connected.agent, connected.provider, settings, directory, stop, limit)
    # Behind a static endpoint there is room for one environment.
    config = replace(config, parallel=1) if config.static_endpoint else config
    core = Core(
        profile=profile,
        scenarios=chosen.scenarios,
        execution=execution,
        tier=config.tier,
        seed_source=seed.source,
        parallel=config.parallel,
        policy=config.adversarial,
        filters=dict(chosen.filters),
        custom=chosen.custom,
        trials=config.trials,
    )
    opened = _open_bundles(config, profile)
    extensions = _extensions(config, profile, execution, connected.witnesses, opened, directory)
    reserved = tuple(unit.bound.scenario for unit in opened.units) if opened else ()
    return Assembly(core, extensions, seed, warnings, connected, chosen, reserved)


def witnesses(provider: Provider, settings: RunSettings, domain: Domain) -> Witnesses:
    """The witnesses, with the naive agent that shows whether a payload is delivered, and the careful one if any."""
    agents = domain.reference_agents
    careful = agents.agent("careful") if "careful" in agents.names else None
    return Witnesses(provider, settings, agents.agent("naive"), careful)


def _extensions(
    config: RunConfig,
    profile: Profile,
    execution: Execution,
    witness_provider: Provider,
    opened: OpenedBundles | None,
    directory: RunDirectory | None,
) -> tuple[Phase, ...]:
    if config.adversarial is ExtensionPolicy.OFF:
        return ()
    material = opened_material(config.material, config.identity, profile)
    generator = plugins.generator(config.generator, profile, material)
    aims = targets(profile, config.archetypes, config.exclude, safety_only=config.safety_only)
    settings = CampaignSettings(
        config.probes, config.confirm, config.parallel, config.max_agent_calls, config.max_minutes,
        _is_over(config.max_minutes), config.schedule, config.wanted_twins, config.wanted_reruns,
    )  # fmt: skip
    admission = Admission(
        profile, aims, witnesses(witness_provider, execution.settings, profile.domain),
        method=generator.method, seed=execution.settings.seed,
    )  # fmt: skip
    phases: list[Phase] = [AdversarialPhase(profile, aims, generator, admission, execution, settings)]
    if opened:
        phases.append(ReservedPhase(opened, execution, config.parallel, directory))
    return tuple(phases)


def _open_bundles(config: RunConfig, profile: Profile) -> OpenedBundles | None:
    if not config.reserved or config.identity is None:
        return None
    return opened_bundles(config.reserved, config.identity, profile)


def _run_folders(path: Path) -> tuple[Path, ...]:
    """The directory of a run, with those of other runs when they are in a folder of their own."""
    return (path, path.absolute().parent) if path.absolute().parent.name == RUNS else (path,)


def _is_over(minutes: float | None) -> Callable[[], bool]:
    """Whether so many minutes have gone by since now; never, when there is no limit."""
    if minutes is None:
        return lambda: False
    end = time.monotonic() + 60 * minutes
    return lambda: time.monotonic() >= end
