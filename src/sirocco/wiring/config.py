"""The configuration of a run: every choice that a user can make, resolved, recorded and hashed."""

import hashlib
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from sirocco import __version__
from sirocco.agents.isolation import Level
from sirocco.campaign.pursuit import TURNS
from sirocco.campaign.reruns import PROBES_PER_RERUN
from sirocco.campaign.schedule import ScheduleKind, schedule_remark
from sirocco.campaign.spending import parse_prices
from sirocco.campaign.stopping import StoppingRule
from sirocco.errors import ConfigError
from sirocco.oasis.canonical import digest
from sirocco.oasis.provider import CORE_VERSIONS
from sirocco.oasis.report import SeedSource
from sirocco.runner.run import ExtensionPolicy
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.connection import Reach
from sirocco.wiring.profile_source import BUNDLED, BUNDLED_PROVIDER, bundled_profiles
from sirocco.wiring.red_team import red_team_paths
from sirocco.wiring.reserved_keys import signing_file

EVALUATOR = "sirocco"
"""The evaluator's name if none is given."""
FORMAT = 3
"""The format of a run directory; a version that expects another format reports this one."""


class Executor(StrEnum):
    """What does a run's work: its own process, several on this machine, or actors of a Ray cluster."""

    LOCAL = "local"
    PROCESSES = "processes"
    RAY = "ray"


_USUAL_CALLS, _CALLS_PER_PAIR = 200, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One evaluation, fully specified."""

    agent: str
    agent_headers: tuple[str, ...] = field(default=(), repr=False)
    agent_env: tuple[str, ...] = ()
    agent_tool: str = ""
    model_url: str = ""
    listen: str = ""
    advertise: str = ""
    static_endpoint: bool = False
    kubeconfig: Path | None = None
    provider: str = BUNDLED_PROVIDER
    provider_token: str = field(default="", repr=False)
    profile: str = BUNDLED
    suite: Path | None = None
    custom: tuple[Path, ...] = ()
    tier: int = 1
    safety_only: bool = False
    categories: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    strict: bool = False
    timeout_seconds: int = 300
    scenario_seconds: int | None = None
    trials: int = 1
    parallel: int = 4
    agent_parallel: int | None = None
    executor: Executor = Executor.LOCAL
    ray_address: str = ""
    adversarial: ExtensionPolicy = ExtensionPolicy.ON_PASS
    generator: tuple[str, ...] = ("mutation",)
    probes: int = 48
    seed: int | None = None
    archetypes: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    schedule: ScheduleKind = ScheduleKind.FIXED
    turns: int = TURNS
    confirm: int = 3
    twins: int = 1
    reruns: int | None = None
    """None means the usual share of the probes."""
    pairs: int = 0
    until: tuple[str, ...] = ()
    learn: tuple[Path, ...] = ()
    core: Path | None = None
    max_agent_calls: int | None = None
    """None means the usual limit, with room for the renamed pairs."""
    max_minutes: float | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: tuple[str, ...] = ()
    reserved: tuple[Path, ...] = ()
    material: tuple[Path, ...] = ()
    identity: Path | None = None
    evaluator: str = EVALUATOR
    artifacts: bool = True
    fail_on: str = "core"
    """What makes the exit code non-zero: the core alone, or adversarial results too."""
    isolation: Level = Level.AUTO
    secret_files: tuple[Path, ...] = field(default=(), repr=False)
    """Files that options were read from."""

    def __post_init__(self) -> None:
        if not self.agent.strip():
            remedy = "add --agent SPEC, or `agent: SPEC` to the run file; `sirocco agent list` names reference agents"
            raise ConfigError("--agent", "no agent is given", remedy)
        if self.reserved and self.identity is None:
            raise ConfigError("--reserved", "a reserved bundle needs a key", "add --identity KEYFILE")
        if self.reserved and self.static_endpoint:
            problem = "reserved scenarios run in a separate process, which the run's endpoint does not reach"
            raise ConfigError(
                "--static-endpoint", problem, "drop it; each request contains the address of its environment"
            )
        if self.material and self.identity is None:
            raise ConfigError("--material", "a sealed bundle needs a key", "add --identity KEYFILE")
        if self.reserved and self.adversarial is ExtensionPolicy.OFF:
            raise ConfigError("--reserved", "reserved scenarios run in the adversarial phase", "drop --adversarial off")
        if self.ray_address and self.executor is not Executor.RAY:
            raise ConfigError("--ray-address", "this run does not use Ray", "add --executor ray, or drop it")
        if self.static_endpoint and self.executor is not Executor.LOCAL:
            problem = "a single endpoint has one environment, which other processes cannot share"
            raise ConfigError("--executor", problem, "drop --static-endpoint, or --executor")
        parse_prices(self.prices)
        for rule in self.until:
            StoppingRule.parse(rule)
        if self.learn and self.schedule is ScheduleKind.FIXED:
            problem = "a fixed schedule learns nothing"
            raise ConfigError("--learn", problem, "add --schedule adaptive or pursuit, or drop --learn")
        self._check_core()

    def _check_core(self) -> None:
        """Refuse options that contradict the core of another run: its scenarios were chosen and run there."""
        if self.core is None:
            return
        if self.adversarial is ExtensionPolicy.OFF:
            raise ConfigError("--core", "with that core, nothing would be run", "drop --adversarial off")
        given = {
            "--suite": self.suite, "--custom": self.custom, "--category": self.categories,
            "--scenario": self.scenarios, "--trials": self.trials > 1,
        }  # fmt: skip
        if chosen := [option for option, value in given.items() if value]:
            problem = f"the core has been run already, and {' and '.join(chosen)} would choose or change it"
            raise ConfigError("--core", problem, f"drop {' and '.join(chosen)}, or --core")

    @property
    def wanted_twins(self) -> int:
        """The number of twins to run: none for safety only, since twins show whether legitimate work is still done."""
        return 0 if self.safety_only else self.twins

    @property
    def wanted_reruns(self) -> int:
        """Published scenarios to run again among the probes."""
        return self.probes // PROBES_PER_RERUN if self.reruns is None else self.reruns

    @property
    def call_limit(self) -> int:
        """The agent calls that the adversarial phase may make: each pair has two runs, of up to two turns."""
        given = self.max_agent_calls
        return _USUAL_CALLS + self.pairs * _CALLS_PER_PAIR if given is None else given

    def reruns_among_reserved(self, units: int) -> int:
        """Published scenarios to run again among that many reserved ones: as many as among probes, or none at all."""
        return 0 if self.reruns == 0 else units // PROBES_PER_RERUN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What will differ from the request, as far as it is known before anything starts."""
        if self.adversarial is ExtensionPolicy.OFF:
            return ()
        remark = schedule_remark(self.schedule, self.probes)
        return (remark,) if remark else ()

    def document(self) -> dict[str, Any]:
        """The configuration as plain data; key files are only named here, never read, and no token is included."""
        values = asdict(self)
        del values["provider_token"], values["kubeconfig"], values["secret_files"]
        values["isolation"] = str(self.isolation)
        values["executor"] = str(self.executor)
        values["agent_headers"] = [header.partition(":")[0].strip() for header in self.agent_headers]
        values["adversarial"] = str(self.adversarial)
        values["schedule"] = str(self.schedule)
        values["reserved"] = [path.name for path in self.reserved]
        values["material"] = [path.name for path in self.material]
        values["identity"] = self.identity.name if self.identity else None
        values["suite"] = str(self.suite) if self.suite else None
        values["custom"] = [str(path) for path in self.custom]
        values["learn"] = [str(path) for path in self.learn]
        values["core"] = str(self.core) if self.core else None
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}

    def agent_options(self) -> AgentOptions:
        """The options that belong to the agent's specification."""
        return AgentOptions(
            self.agent_headers, self.agent_env, self.agent_tool, self.model_url, timeout_seconds=self.timeout_seconds,
            isolation=self.isolation, hidden=self.files(),
        )  # fmt: skip

    def files(self) -> tuple[Path, ...]:
        """The configured files and folders that an agent must not read; its kubeconfig is not one of them."""
        values = (getattr(self, one.name) for one in fields(self) if one.name != "kubeconfig")
        named = (value if isinstance(value, tuple) else (value,) for value in values)
        folder = () if self.profile in bundled_profiles() else (Path(self.profile),)
        signing = (signing_file(self.identity),) if self.identity else ()
        written = (path for spec in self.generator for path in red_team_paths(spec))
        return (*folder, *signing, *written, *(path for paths in named for path in paths if isinstance(path, Path)))

    def reach(self) -> Reach:
        """How the agent reaches its environments."""
        return Reach(self.listen, self.advertise, self.static_endpoint, self.kubeconfig)


@dataclass(frozen=True, slots=True)
class Seed:
    """The run's seed and where it came from."""

    value: int
    source: str

    @classmethod
    def choose(cls, given: int | None) -> "Seed":
        """The given seed, or 128 fresh random bits: a fixed default would be nothing but a second public corpus."""
        if given is not None:
            return cls(given, str(SeedSource.GIVEN))
        return cls(secrets.randbits(128), str(SeedSource.RANDOM))


WITHOUT_EFFECT = frozenset(
    {
        "profile", "suite", "custom", "strict", "parallel", "agent_parallel", "executor",
        "ray_address", "max_minutes", "max_tokens", "max_cost",
        "prices", "identity", "listen",
        "advertise", "evaluator", "artifacts", "fail_on", "learn", "core",
    }
)  # fmt: skip
"""The settings that no result depends on; for profile, selected scenarios and earlier runs, the content counts."""


def run_document(
    config: RunConfig,
    seed: Seed,
    profile_digest: str,
    started: str,
    selection_digest: str = "",
    directory: Path | None = None,
) -> Mapping[str, Any]:
    """`run.yaml`: the resolved configuration, versions, seed and a hash over everything that decides the results.

    `selection_digest` covers the contents of a suite and of custom scenario files; `directory` is the run's, as it was
    given, for the commands in its report.
    """
    resolved = config.document() | {"seed": f"{seed.value:#x}"}
    # Sealed files are compared by their ciphertext, which reveals nothing.
    bundles = [_file_digest(path) for path in (*config.reserved, *config.material)]
    earlier = {
        **({"learn": [_file_digest(path) for path in config.learn]} if config.learn else {}),
        **({"core": _file_digest(config.core)} if config.core else {}),
    }
    return {
        "format": FORMAT,
        "sirocco": __version__,
        "versions": {"python": platform.python_version(), "oasis_core": CORE_VERSIONS[-1]},
        "started": started,
        "seed_source": seed.source,
        **({} if directory is None else {"directory": str(directory)}),
        "config": resolved,
        "profile_digest": profile_digest,
        "selection_digest": selection_digest,
        "reserved_digests": bundles,
        **({"earlier_digests": earlier} if earlier else {}),
        "config_hash": _config_hash(__version__, profile_digest, selection_digest, bundles, resolved, earlier),
    }


def _file_digest(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def recomputed_config_hash(run: Mapping[str, Any]) -> str:
    """The hash that a `run.yaml` with this content must have."""
    digests = (run["profile_digest"], run["selection_digest"], run["reserved_digests"])
    return _config_hash(run["sirocco"], *digests, run["config"], run.get("earlier_digests", {}))


def _config_hash(
    version: str,
    profile: str,
    selection: str,
    bundles: Sequence[str],
    config: Mapping[str, Any],
    earlier: Mapping[str, Any],
) -> str:
    deciding = {key: value for key, value in config.items() if key not in WITHOUT_EFFECT}
    contents = {"sirocco": version, "profile": profile, "selection": selection, "bundles": list(bundles)}
    return digest({**contents, **({"earlier": dict(earlier)} if earlier else {}), **deciding})
