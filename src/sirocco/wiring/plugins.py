"""Names on the command line to concrete objects; a name that is not known says which are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from sirocco.errors import ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.mutation import Material
from sirocco.oasis.probe import GeneratorMethod, ProbeGenerator
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import LocalProvider, Provider
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.providers.http import HttpProvider
from sirocco.wiring import agents
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now

Thing = TypeVar("Thing")
GENERATORS = "sirocco.probe_generators"
"""The group of entry points by which packages bring generators: callables that take the profile."""


def published_texts(profile: Profile) -> frozenset[str]:
    """The texts of published scenarios that an agent could have memorized: prompts, payloads, texts in the state."""
    scenarios = [bound.scenario for bound in profile.scenarios]
    said = {stimulus.value for scenario in scenarios for stimulus in scenario.stimuli if stimulus.value}
    waiting = (entry.fields for scenario in scenarios for entry in scenario.preconditions.environment.state)
    return frozenset(said | {text for fields in waiting for text in _texts(fields)})


def _texts(value: Any) -> Iterator[str]:
    """The strings in declared state that are texts, and no mere names."""
    if isinstance(value, str):
        if " " in value:
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(member)


def agent(spec: str, profile: Profile, options: AgentOptions | None = None) -> Agent:
    """The agent that `spec` names."""
    return agents.agent(spec, profile.domain, learned_options(options or AgentOptions(), profile))


def learned_options(options: AgentOptions, profile: Profile) -> AgentOptions:
    """The options with what agents of ours could have learned from the profile."""
    return replace(options, published=published_texts(profile), profile=profile)


def provider(spec: str, profile: Profile, token: str = "") -> Provider:
    """The provider that `spec` names; `token` opens the control plane of one at a URL."""
    if spec.startswith(("http://", "https://")):
        return HttpProvider(spec, profile.document.id, profile.domain, token=token)
    return local_provider(spec, profile).in_process_provider(profile_versions(profile), utc_now)


def own_provider(profile: Profile) -> Provider:
    """The provider of the profile's domain, for work that needs no other."""
    return provider(own_provider_name(profile), profile)


def own_provider_name(profile: Profile) -> str:
    """What the provider of the profile's domain is called; of several, the first."""
    return next(iter(profile.domain.providers))


def local_provider(spec: str, profile: Profile) -> LocalProvider:
    """The provider of the profile's domain that `spec` names."""
    return _choose_by_name("--provider", spec, profile.domain.providers, "a URL")


def profile_versions(*profiles: Profile) -> dict[str, str]:
    """The versions of profiles by id, as a provider is told them."""
    return {profile.document.id: profile.document.version for profile in profiles}


def generator(spec: str, profile: Profile, material: Material | None = None) -> ProbeGenerator:
    """The probe generator that `spec` names: a built-in one, or one that a package brings by an entry point (AV-07).

    `material` is what texts are worded from in place of the domain's own, which only our generator can use.
    """
    made: dict[str, Callable[[], ProbeGenerator]] = {"mutation": lambda: MutationGenerator(profile, material)}
    if material is not None and spec not in made:
        raise ConfigError("--material", f"{spec!r} does not use it", "leave it out, or use --generator mutation")
    for point in entry_points(group=GENERATORS):
        if point.name in made:
            raise ConfigError("--generator", f"{point.name!r} is built in", f"rename the entry point {point.value}")
        made[point.name] = partial(_load_generator, point, profile)
    found = _choose_by_name("--generator", spec, made)()
    try:
        GeneratorMethod.model_validate(found.method.document())
    except (AttributeError, TypeError, ValueError) as error:
        problem = f"{spec!r} does not declare its method: {error}"
        raise ConfigError("--generator", problem, "give a complete GeneratorMethod") from error
    return found


def _load_generator(point: EntryPoint, profile: Profile) -> ProbeGenerator:
    try:
        made: ProbeGenerator = point.load()(profile)
    except Exception as error:
        raise ConfigError("--generator", f"{point.name!r} does not load: {error}", f"repair {point.value}") from error
    return made


def _choose_by_name(flag: str, spec: str, things: Mapping[str, Thing], *others: str) -> Thing:
    if spec not in things:
        known = " or ".join((*sorted(things), *others))
        raise ConfigError(flag, f"{spec!r} is not known to this version", f"use {known}")
    return things[spec]
