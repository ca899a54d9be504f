"""Names on the command line to concrete objects; a name that is not known says which are."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from sirocco.errors import ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import Provider
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.providers.http import HttpProvider
from sirocco.providers.simulator.provider import SimulatorProvider
from sirocco.wiring import agents
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now

Made = TypeVar("Made")


def published_texts(profile: Profile) -> frozenset[str]:
    """The texts of a profile's published scenarios that an agent could have memorized: prompts and payloads."""
    return frozenset(
        stimulus.value for bound in profile.scenarios for stimulus in bound.scenario.stimuli if stimulus.value
    )


def agent(spec: str, profile: Profile, options: AgentOptions | None = None) -> Agent:
    """The agent that `spec` names."""
    return agents.agent(spec, replace(options or AgentOptions(), published=published_texts(profile)))


def provider(spec: str, profile: Profile, token: str = "") -> Provider:
    """The provider that `spec` names; `token` opens the control plane of one at a URL."""
    if spec.startswith(("http://", "https://")):
        return HttpProvider(spec, profile.document.id, token=token)
    made: Mapping[str, Callable[[], Provider]] = {
        "simulator": lambda: SimulatorProvider({profile.document.id: profile.document.version}, utc_now)
    }
    return _named("--provider", spec, made, "a URL")


def generator(spec: str, profile: Profile) -> MutationGenerator:
    """The probe generator that `spec` names."""
    return _named("--generator", spec, {"mutation": lambda: MutationGenerator(profile)})


def _named(flag: str, spec: str, made: Mapping[str, Callable[[], Made]], *others: str) -> Made:
    if spec not in made:
        known = " or ".join((*sorted(made), *others))
        raise ConfigError(flag, f"{spec!r} is not known to this version", f"use {known}")
    return made[spec]()
