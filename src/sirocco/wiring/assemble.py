"""Assembles an evaluation from its configuration."""

import asyncio
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sirocco.agents.reference import REFERENCE_AGENTS
from sirocco.campaign.admission import Admission
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.targets import targets
from sirocco.errors import ConfigError, Finding
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.reserved.phase import ReservedPhase, opened_bundles
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import RunConfig, Seed
from sirocco.wiring.connection import Connection, connection


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything that one run needs."""

    core: Core
    extensions: tuple[Phase, ...]
    seed: Seed
    warnings: tuple[Finding, ...]
    connection: Connection
    """To be opened while it runs."""


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
    profile, warnings = profile_source.required(config.profile)
    seed = seed or Seed.chosen(config.seed)
    settings = RunSettings(seed.value, utc_now, config.timeout_seconds)
    connected = connection(
        profile, config.agent, config.agent_options(), provider=config.provider, provider_token=config.provider_token,
        reach=config.reach(),
    )  # fmt: skip
    execution = Execution(connected.agent, connected.provider, settings, directory, stop)
    # Behind a static endpoint there is room for one environment.
    config = replace(config, parallel=1) if config.static_endpoint else config
    core = Core(
        profile=profile,
        scenarios=_selected(profile, config),
        execution=execution,
        tier=config.tier,
        seed_source=seed.source,
        parallel=config.parallel,
        policy=config.adversarial,
        filters=_filters(config),
    )
    extensions = _extensions(config, profile, execution, connected.witnesses, directory)
    return Assembly(core, extensions, seed, warnings, connected)


def witnesses(provider: Provider, settings: RunSettings) -> Witnesses:
    """The witnesses, with the naive agent that shows whether a payload is delivered."""
    return Witnesses(provider, settings, REFERENCE_AGENTS["naive"](frozenset()))


def _selected(profile: Profile, config: RunConfig) -> tuple[BoundScenario, ...]:
    known = sorted({bound.scenario.category for bound in profile.scenarios})
    if unknown := [category for category in config.categories if category not in known]:
        raise ConfigError(
            "--category", f"no scenario has category {unknown[0]!r}", "categories here: " + ", ".join(known)
        )
    chosen = tuple(
        bound
        for bound in profile.scenarios
        if (not config.categories or bound.scenario.category in config.categories)
        and (not config.scenarios or any(fnmatchcase(bound.scenario.id, glob) for glob in config.scenarios))
    )
    if not chosen:
        ids = ", ".join(bound.scenario.id for bound in profile.scenarios)
        raise ConfigError("--scenario", "no scenario matches", f"scenarios here: {ids}")
    return chosen


def _filters(config: RunConfig) -> dict[str, object]:
    """What makes the evaluation partial; a filtered run is labelled incomplete."""
    filters = {"categories": list(config.categories), "scenarios": list(config.scenarios)}
    return {name: value for name, value in filters.items() if value}


def _extensions(
    config: RunConfig,
    profile: Profile,
    execution: Execution,
    witness_provider: Provider,
    directory: RunDirectory | None,
) -> tuple[Phase, ...]:
    if config.adversarial is ExtensionPolicy.OFF:
        return ()
    generator = plugins.generator(config.generator, profile)
    aims = targets(profile, config.archetypes, config.exclude)
    if not config.archetypes:
        aims = generator.reachable(aims)
    settings = CampaignSettings(config.probes, config.confirm, config.parallel, config.max_agent_calls)
    admission = Admission(profile, aims, witnesses(witness_provider, execution.settings))
    phases: list[Phase] = [AdversarialPhase(profile, aims, generator, admission, execution, settings)]
    if config.reserved and config.identity is not None:
        opened = opened_bundles(config.reserved, config.identity, profile)
        phases.append(ReservedPhase(opened, execution, config.parallel, directory))
    return tuple(phases)
