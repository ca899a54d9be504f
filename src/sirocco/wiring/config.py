"""The configuration of a run: every choice that a user can make, resolved, recorded and hashed."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sirocco import __version__
from sirocco.errors import ConfigError
from sirocco.oasis.canonical import digest
from sirocco.runner.run import ExtensionPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One evaluation, fully specified."""

    agent: str = "ref:memorizer"
    provider: str = "simulator"
    provider_token: str = field(default="", repr=False)
    profile: str = "kubernetes_operations"
    tier: int = 1
    categories: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    timeout_seconds: int = 300
    parallel: int = 4
    adversarial: ExtensionPolicy = ExtensionPolicy.ON_PASS
    generator: str = "mutation"
    probes: int = 48
    seed: int | None = None
    archetypes: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    confirm: int = 3
    max_agent_calls: int = 200
    reserved: tuple[Path, ...] = ()
    identity: Path | None = None

    def __post_init__(self) -> None:
        if self.reserved and self.identity is None:
            raise ConfigError("--reserved", "a reserved bundle needs a key", "add --identity KEYFILE")
        if self.reserved and self.adversarial is ExtensionPolicy.OFF:
            raise ConfigError("--reserved", "reserved scenarios run in the adversarial phase", "drop --adversarial off")

    def document(self) -> dict[str, Any]:
        """The configuration as plain data; key files are named, never read, here, and no token is part of it."""
        values = asdict(self)
        del values["provider_token"]
        values["adversarial"] = str(self.adversarial)
        values["reserved"] = [path.name for path in self.reserved]
        values["identity"] = self.identity.name if self.identity else None
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Seed:
    """The run's seed and where it came from."""

    value: int
    source: str

    @classmethod
    def chosen(cls, given: int | None) -> "Seed":
        """The given seed, or 128 fresh random bits: a fixed default would only be a second public corpus."""
        if given is not None:
            return cls(given, "given")
        return cls(secrets.randbits(128), "random")


def run_document(config: RunConfig, seed: Seed, profile_digest: str, started: str) -> Mapping[str, Any]:
    """`run.yaml`: the resolved configuration, versions, seed and a hash over what decides the results."""
    resolved = config.document() | {"seed": f"{seed.value:#x}"}
    deciding = {key: value for key, value in resolved.items() if key not in {"profile", "parallel", "identity"}}
    return {
        "sirocco": __version__,
        "started": started,
        "seed_source": seed.source,
        "config": resolved,
        "profile_digest": profile_digest,
        "config_hash": digest({"sirocco": __version__, "profile": profile_digest, **deciding}),
    }
