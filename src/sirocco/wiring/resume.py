"""Resuming an interrupted run: with its configuration as it was recorded, and no other."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from sirocco.errors import ConfigError
from sirocco.evidence.files import stored_document
from sirocco.evidence.run_directory import RUN
from sirocco.wiring.config import FORMAT, WITHOUT_EFFECT, RunConfig, Seed

_NOT_RECORDED = frozenset({"agent_headers", "provider_token", "kubeconfig", "reserved", "material", "identity", "seed"})
"""What a run directory lacks, or only names: secrets, keys and other people's files must be given again."""
_CONFIG = TypeAdapter(RunConfig)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The `run.yaml` of a run directory."""

    path: Path
    document: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> "StoredRun":
        """The run in a directory; ConfigError if there is none."""
        remedy = "give a run directory, which `sirocco run` makes"
        try:
            document = stored_document(path / RUN)
        except FileNotFoundError as error:
            raise ConfigError(path, f"contains no {RUN}: no run was started here", remedy) from error
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ConfigError(path / RUN, "cannot be read", remedy) from error
        keys = {"sirocco", "started", "seed_source", "config", "profile_digest", "config_hash"}
        if not isinstance(document, dict) or not keys <= document.keys() or not isinstance(document["config"], dict):
            raise ConfigError(path / RUN, "does not describe a run", remedy)
        try:
            json.dumps(document)
        except (TypeError, ValueError) as error:
            raise ConfigError(path / RUN, "contains data that is not JSON", "restore it from a copy") from error
        if (found := document.get("format", 1)) != FORMAT:
            problem = f"sirocco {document['sirocco']} wrote this run in format {found}; this version reads {FORMAT}"
            raise ConfigError(path, problem, "use the version that wrote it, or evaluate again")
        return cls(path, document)

    @property
    def config_hash(self) -> str:
        """The hash over everything that decides the results."""
        return str(self.document["config_hash"])

    @property
    def started(self) -> str:
        """When the run began."""
        return str(self.document["started"])

    @property
    def seed(self) -> Seed:
        """The seed, and where it came from when the run was started."""
        try:
            return Seed(int(str(self.document["config"]["seed"]), 16), str(self.document["seed_source"]))
        except (KeyError, ValueError) as error:
            raise ConfigError(self.path / RUN, "has no seed", "restore it from a copy") from error

    def config(self, given: Mapping[str, Any]) -> RunConfig:
        """The recorded configuration, updated with what is given now."""
        names = {one.name for one in fields(RunConfig)} - _NOT_RECORDED
        recorded = {name: value for name, value in self.document["config"].items() if name in names}
        if self.document["config"].get("reserved") and not given.get("reserved"):
            problem = f"the run has reserved scenarios: {', '.join(map(str, self.document['config']['reserved']))}"
            raise ConfigError("--resume", problem, "give --reserved and --identity again")
        if self.document["config"].get("material") and not given.get("material"):
            problem = (
                f"its probes come from sealed material: {', '.join(map(str, self.document['config']['material']))}"
            )
            raise ConfigError("--resume", problem, "give --material and --identity again")
        try:
            return _CONFIG.validate_python(recorded | dict(given))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ConfigError(self.path / RUN, f"config.{where}: {first['msg']}", "restore it from a copy") from error

    def refuse_another(self, run: Mapping[str, Any]) -> None:
        """Raise ConfigError, naming every difference, unless `run` is the same evaluation."""
        if run["config_hash"] == self.config_hash:
            return
        differences = [
            *_setting_differences("version of sirocco", self.document["sirocco"], run["sirocco"]),
            *_setting_differences("content of the profile", self.document["profile_digest"], run["profile_digest"]),
            *_setting_differences(
                "content of the selection", self.document.get("selection_digest"), run["selection_digest"]
            ),
            *_setting_differences("reserved bundles", self.document.get("reserved_digests"), run["reserved_digests"]),
            *_setting_differences(
                "content of --learn or --core", self.document.get("earlier_digests"), run.get("earlier_digests")
            ),
        ]
        then, now = self.document["config"], run["config"]
        for name in sorted((then.keys() | now.keys()) - WITHOUT_EFFECT):
            differences += _setting_differences(name, then.get(name), now.get(name))
        raise ConfigError(
            self.path,
            "the run was started with another configuration: " + ("; ".join(differences) or "its hash differs"),
            "resume it with the original configuration, or start a new run with --out",
        )


def _setting_differences(name: str, then: object, now: object) -> list[str]:
    return [] if then == now else [f"{name.replace('_', ' ')} was {_value_text(then)}, now {_value_text(now)}"]


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return "nothing" if value in (None, "") else str(value)
