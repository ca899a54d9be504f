"""Assembles an evaluation from its configuration."""

import asyncio
import gzip
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from sirocco.campaign.admission import Admission
from sirocco.campaign.phase import AdversarialPhase, CampaignSettings
from sirocco.campaign.portfolio import Source, joint_method
from sirocco.campaign.schedule import Observation
from sirocco.campaign.spending import Limits, parse_prices
from sirocco.campaign.stopping import StoppingRule
from sirocco.campaign.targets import targets
from sirocco.errors import ConfigError, Finding
from sirocco.evidence.run_directory import RunDirectory
from sirocco.oasis.canonical import canonical_json
from sirocco.oasis.domain import Domain
from sirocco.oasis.ledger import UnitLedger
from sirocco.oasis.phase import Phase
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.oasis.report import AttachedCore, RunIdentity
from sirocco.oasis.verdict import Pass
from sirocco.reserved.publication import Publication
from sirocco.reserved.worker import ReservedPlan, WorkerPhase, worker_program
from sirocco.runner.execution import Execution
from sirocco.runner.run import Core, ExtensionPolicy
from sirocco.runner.scenario_run import RunSettings
from sirocco.runner.witnessing import Witnesses
from sirocco.wiring import plugins, profile_source
from sirocco.wiring.clock import utc_now
from sirocco.wiring.config import RunConfig, Seed
from sirocco.wiring.connection import Connection, connection
from sirocco.wiring.earlier import EarlierRun
from sirocco.wiring.material import opened_material
from sirocco.wiring.reserved_task import PROGRAM, Task
from sirocco.wiring.selection import Selection, selection
from sirocco.wiring.workforce import OpenWorkforce, SiteTask, workforce

RUNS = "runs"
"""The folder for run directories if no other is named."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything that one run needs."""

    core: Core
    extensions: tuple[Phase, ...]
    seed: Seed
    warnings: tuple[Finding, ...]
    connection: Connection
    """To be opened for the duration of the run."""
    selection: Selection
    reserved_task: Task | None = field(default=None, repr=False)
    """The task for the process that runs reserved scenarios; they are never opened in this process."""
    reserved_plan: ReservedPlan | None = None
    earlier: tuple[EarlierRun, ...] = ()
    """Documents of earlier runs that this run relies on."""
    workforce: OpenWorkforce | None = None
    """To be opened for the duration of the run."""

    def refuse_other_agent(self, identity: RunIdentity) -> None:
        """Raise ConfigError if an earlier run is about a different agent from the one that answers now."""
        for document in self.earlier:
            document.refuse_other_agent(identity)


def assemble(
    config: RunConfig,
    *,
    seed: Seed | None = None,
    directory: RunDirectory | None = None,
    stop: asyncio.Event | None = None,
) -> Assembly:
    """Live objects for `config`; every mistake in it is raised here, before anything runs.

    Units are kept in `directory` as soon as they are finished; a resumed run supplies its seed.
    """
    profile, warnings = profile_source.required_profile(config.profile, strict=config.strict)
    seed = seed or Seed.choose(config.seed)
    chosen = selection(profile, config)
    beside = _earlier_run("--core", config.core, profile, config.tier) if config.core else None
    learned = tuple(_earlier_run("--learn", path, profile, config.tier) for path in config.learn)
    path = directory.path if directory else None
    sources = _sources(config, profile)
    method = joint_method({one.name: one.generator.method for one in sources}) if sources else None
    workers = workforce(config, SiteTask(config, profile, seed, path, method))
    connected, execution = connected_execution(config, profile, seed, path, stop=stop, ledger=directory)
    execution = replace(execution, workforce=workers)
    # A static endpoint has room for one environment.
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
        attached=_attached_core(beside, profile, config.adversarial) if beside else None,
    )
    task, plan = _reserved(config, profile, seed, path) if config.reserved else (None, None)
    observations = tuple(one for run in learned for one in run.observations())
    extensions = _extensions(config, profile, execution, connected.witnesses, sources, task, observations)
    earlier = (*((beside,) if beside else ()), *learned)
    return Assembly(core, extensions, seed, warnings, connected, chosen, task, plan, earlier, workers)


def connected_execution(
    config: RunConfig,
    profile: Profile,
    seed: Seed,
    directory: Path | None,
    *,
    stop: asyncio.Event | None = None,
    ledger: UnitLedger | None = None,
) -> tuple[Connection, Execution]:
    """The agent in its environments, shared by all phases; it cannot read `directory`."""
    settings = RunSettings(seed.value, utc_now, config.timeout_seconds, config.scenario_seconds)
    options = config.agent_options()
    if directory is not None:
        options = replace(options, hidden=(*options.hidden, *_run_folders(directory)))
    connected = connection(
        profile, config.agent, options, provider=config.provider, provider_token=config.provider_token,
        reach=config.reach(),
    )  # fmt: skip
    limit = asyncio.Semaphore(config.agent_parallel) if config.agent_parallel else None
    return connected, Execution(connected.agent, connected.provider, settings, ledger, stop, limit)


def _earlier_run(option: str, path: Path, profile: Profile, tier: int) -> EarlierRun:
    found = EarlierRun.read(option, path)
    found.refuse_other_profile(profile, tier)
    return found


def _attached_core(document: EarlierRun, profile: Profile, policy: ExtensionPolicy) -> AttachedCore:
    """The core that extensions run against; refused if nothing would run after it."""
    found = document.core(profile)
    if policy is ExtensionPolicy.ON_PASS and not isinstance(found.safety, Pass):
        remedy = "add --adversarial always; figures about generalization are then withheld"
        raise ConfigError(
            f"--core {document.path}", "that core did not pass, so there would be no adversarial phase", remedy
        )
    return found


def witnesses(provider: Provider, settings: RunSettings, domain: Domain) -> Witnesses:
    """The witnesses, with the naive agent that shows whether a payload is delivered, and the careful one, if any."""
    agents = domain.reference_agents
    careful = agents.agent("careful") if "careful" in agents.names else None
    return Witnesses(provider, settings, agents.agent("naive"), careful)


def _sources(config: RunConfig, profile: Profile) -> Sequence[Source]:
    """The generators of the run; none if no extension runs."""
    if config.adversarial is ExtensionPolicy.OFF:
        return ()
    material = opened_material(config.material, config.identity, profile)
    return plugins.generator_sources(config.generator, profile, material)


def _extensions(
    config: RunConfig,
    profile: Profile,
    execution: Execution,
    witness_provider: Provider,
    sources: Sequence[Source],
    reserved: Task | None,
    learned: tuple[Observation, ...],
) -> tuple[Phase, ...]:
    if not sources:
        return ()
    aims = targets(
        profile, config.archetypes, config.exclude, categories=config.categories,
        safety_only=config.safety_only,
    )  # fmt: skip
    settings = CampaignSettings(
        config.probes, config.confirm, config.parallel, config.call_limit, _limits(config), config.schedule,
        config.turns, config.wanted_twins, config.wanted_reruns, config.pairs,
        tuple(map(StoppingRule.parse, config.until)), learned,
    )  # fmt: skip
    admission = Admission(
        profile, aims, witnesses(witness_provider, execution.settings, profile.domain),
        method=joint_method({one.name: one.generator.method for one in sources}), seed=execution.settings.seed,
    )  # fmt: skip
    facts = directory if isinstance(directory := execution.ledger, RunDirectory) else None
    phases: list[Phase] = [AdversarialPhase(profile, aims, sources, admission, execution, settings, facts)]
    if reserved:
        phases.append(WorkerPhase(worker_program(PROGRAM), reserved.for_run, execution.stop))
    return tuple(phases)


def _reserved(config: RunConfig, profile: Profile, seed: Seed, directory: Path | None) -> tuple[Task, ReservedPlan]:
    """The task for reserved scenarios, and the bundles' contents; what the profile publishes is checked first."""
    Publication.read(profile_source.profile_folder(config.profile), profile.document)
    task = Task(config, seed, directory)
    return task, task.plan()


def published_text(profile: Profile, folder: Path, directory: Path | None = None) -> Iterator[str]:
    """Every text that is public apart from reserved scenarios: the profile, and the run as far as it is written."""
    for place in (folder, Path(str(files("sirocco.reports")))):
        yield from (_text_of(file) for file in sorted(place.rglob("*")) if file.is_file())
    yield canonical_json(profile.document.document())
    for bound in profile.scenarios:
        yield canonical_json(bound.scenario.document())
        conditional = (check for block in bound.conditional for check in block.checks)
        yield "\n".join(check.id for check in (*bound.checks, *conditional))  # reports show them
    for pattern in ("run.yaml", "core.yaml", "evidence/segment-*", "adversarial/*.yaml"):
        yield from (_text_of(file) for file in (directory.glob(pattern) if directory else ()))


def _text_of(file: Path) -> str:
    data = file.read_bytes()
    return (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8", "ignore")


def _run_folders(path: Path) -> tuple[Path, ...]:
    """The directory of a run, and those of other runs if they are in a dedicated folder."""
    return (path, path.absolute().parent) if path.absolute().parent.name == RUNS else (path,)


def _limits(config: RunConfig) -> Limits:
    prices = parse_prices(config.prices)
    return Limits(config.max_minutes, config.max_tokens, config.max_cost, prices, _is_over(config.max_minutes))


def _is_over(minutes: float | None) -> Callable[[], bool]:
    """Whether that many minutes have passed from now on; never without a limit."""
    if minutes is None:
        return lambda: False
    end = time.monotonic() + 60 * minutes
    return lambda: time.monotonic() >= end
