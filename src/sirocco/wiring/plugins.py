"""Turns names from the command line into objects; the error for an unknown name lists the known ones."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from sirocco.campaign.portfolio import Source
from sirocco.errors import ConfigError
from sirocco.oasis.agent import Agent
from sirocco.oasis.mutation import Material
from sirocco.oasis.probe import GeneratorMethod, ProbeGenerator
from sirocco.oasis.profile import Profile
from sirocco.oasis.provider import ConfigurableProvider, LocalProvider, Provider
from sirocco.probes.chain import Chain
from sirocco.probes.external.command import CommandCarrier
from sirocco.probes.external.generator import ANSWER_SECONDS, ExternalGenerator
from sirocco.probes.external.http import HttpCarrier
from sirocco.probes.mutation.generator import MutationGenerator
from sirocco.probes.mutation.over import MutationOver
from sirocco.providers.http import HttpProvider
from sirocco.wiring import agents
from sirocco.wiring.agents import AgentOptions
from sirocco.wiring.clock import utc_now
from sirocco.wiring.llm_generator import PREFIX as LLM
from sirocco.wiring.llm_generator import llm_generator
from sirocco.wiring.red_team import PREFIX as RED_TEAM
from sirocco.wiring.red_team import red_team_generator

Thing = TypeVar("Thing")
_MUTATION, _HYBRID, _COMMAND = "mutation", "hybrid:", "command:"
_OPTIONS = re.compile(r"[a-z_]+=[^&?]*(?:&[a-z_]+=[^&?]*)*")
_CREDENTIALS = re.compile(r"(?<=//)[^/@]*@")
_MOST_SHARES = 100
_LONGEST_ANSWER = 3600.0
GENERATORS = "sirocco.probe_generators"
"""The group of entry points by which packages provide generators: callables that take the profile, and options."""


def published_texts(profile: Profile) -> frozenset[str]:
    """The texts of published scenarios that an agent could have memorized: prompts, payloads, texts in the state."""
    scenarios = [bound.scenario for bound in profile.scenarios]
    said = {stimulus.value for scenario in scenarios for stimulus in scenario.stimuli if stimulus.value}
    waiting = (entry.fields for scenario in scenarios for entry in scenario.preconditions.environment.state)
    return frozenset(said | {text for fields in waiting for text in _texts(fields)})


def _texts(value: Any) -> Iterator[str]:
    """The strings in declared state that are texts rather than mere names."""
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
    """The options, with what our own agents could have learned from the profile."""
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
    """The name of the provider of the profile's domain; the first one if there are several."""
    return next(iter(profile.domain.providers))


def local_provider(spec: str, profile: Profile) -> LocalProvider:
    """The provider of the profile's domain that `spec` names, with its options (`NAME?key=value&key=value`)."""
    name, options = named(spec)
    found = _choose_by_name("--provider", name, profile.domain.providers, "a URL")
    if not options:
        return found
    return _configurable(name, found).configured(options)


def provider_question(spec: str, profile: Profile) -> str:
    """What must be agreed to before the provider that `spec` names is used; empty if nothing."""
    name, options = named(spec)
    found = _choose_by_name("--provider", name, profile.domain.providers, "a URL")
    return _configurable(name, found).question(options) if options else ""


async def clean_provider(spec: str, profile: Profile, *, everything: bool) -> Sequence[str]:
    """Remove what runs left behind where `spec` leads; returns the names of what was removed."""
    name, options = named(spec)
    found = _choose_by_name("--provider", name, profile.domain.providers)
    return await _configurable(name, found).clean(options, everything=everything)


def _configurable(name: str, found: LocalProvider) -> ConfigurableProvider:
    if not isinstance(found, ConfigurableProvider):
        raise ConfigError("--provider", f"{name!r} takes no options, but was given some", "drop them")
    return found


def is_local_provider(spec: str, profile: Profile) -> bool:
    """Whether `spec` names a provider of the profile's domain."""
    return named(spec)[0] in profile.domain.providers


def profile_versions(*profiles: Profile) -> dict[str, str]:
    """The versions of profiles by id, as a provider is told them."""
    return {profile.document.id: profile.document.version for profile in profiles}


def generator_sources(specs: Sequence[str], profile: Profile, material: Material | None = None) -> tuple[Source, ...]:
    """The generators of a run, each with its share: those named, and the parts of portfolios, `hybrid:A+B` (AV-07)."""
    found: list[Source] = []
    single = [part for spec in specs for part in portfolio_parts(spec)]
    for text in single:
        spec, share = with_share(text)
        # Only our engine words its texts from material.
        words = material if len(single) == 1 or named(spec)[0] == _MUTATION else None
        made = generator(spec, profile, words)
        called, number = _CREDENTIALS.sub("", named(spec)[0]), 2
        name = called
        while name in {one.name for one in found}:
            name, number = f"{called} #{number}", number + 1
        found.append(Source(name, made, share))
    return tuple(found)


def generator(spec: str, profile: Profile, material: Material | None = None) -> ProbeGenerator:
    """The probe generator that `spec` names: built in, a program, a server, a chain of two, or a package's.

    A package provides one by an entry point (AV-07). `material` replaces the domain's own as the source of texts; only
    our engine can use it.
    """
    name, options = named(spec)
    if material is not None and name != _MUTATION:
        raise ConfigError("--material", f"{spec!r} does not use it", "leave it out, or use --generator mutation")
    if spec.startswith(_HYBRID):
        return _chain(spec, profile)
    if name.startswith(LLM):
        return llm_generator(name, options, profile, os.environ)
    if name.startswith((_COMMAND, "http://", "https://")):
        is_command = name.startswith(_COMMAND)
        carrier = CommandCarrier(name.removeprefix(_COMMAND)) if is_command else HttpCarrier(_url(name, options))
        return ExternalGenerator(carrier, profile, _seconds(spec, options, only=is_command))
    if name.startswith(RED_TEAM):
        return red_team_generator(name.removeprefix(RED_TEAM), profile, options)
    made: dict[str, Callable[[], ProbeGenerator]] = {"mutation": lambda: MutationGenerator(profile, material)}
    for point in entry_points(group=GENERATORS):
        if point.name in made:
            raise ConfigError("--generator", f"{point.name!r} is built in", f"rename the entry point {point.value}")
        made[point.name] = partial(_load_generator, point, profile, options)
    if options and name == _MUTATION:
        raise ConfigError("--generator", f"{name!r} has no options, but was given {', '.join(options)}", "drop them")
    found = _choose_by_name(
        "--generator",
        name,
        made,
        "llm:PROVIDER:NAME",
        "red_team:PATH",
        "command:PROGRAM",
        "a URL",
        "hybrid:A+B",
        "hybrid:A>B",
    )()
    try:
        GeneratorMethod.model_validate(found.method.document())
    except (AttributeError, TypeError, ValueError) as error:
        problem = f"{spec!r} does not declare its method: {error}"
        raise ConfigError("--generator", problem, "give a complete GeneratorMethod") from error
    return found


def portfolio_parts(spec: str) -> list[str]:
    """The generators in a portfolio; any other specification is its own single part."""
    parts = spec.removeprefix(_HYBRID).split("+") if spec.startswith(_HYBRID) and ">" not in spec else [spec]
    if not all(part.strip() for part in parts):
        raise ConfigError("--generator", f"{spec!r} has an empty part", "write hybrid:A+B or hybrid:A>B")
    return [part.strip() for part in parts]


def named(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the options of `NAME?key=value&key=value`."""
    name, mark, text = spec.rpartition("?")
    found = _OPTIONS.fullmatch(text)
    if not mark or not found:
        return spec, {}
    return name, dict(part.split("=", 1) for part in text.split("&"))


def with_share(spec: str) -> tuple[str, int]:
    """A generator without its option `share`, and how many places it gets for each place of a share of 1."""
    name, options = named(spec)
    share = options.pop("share", "1")
    if not share.isdecimal() or not 1 <= int(share) <= _MOST_SHARES:
        raise ConfigError("--generator", f"{spec!r}: share is {share!r}", f"give a number from 1 to {_MOST_SHARES}")
    rest = "&".join(f"{key}={value}" for key, value in options.items())
    return f"{name}?{rest}" if rest else name, int(share)


def _chain(spec: str, profile: Profile) -> ProbeGenerator:
    """The generator of `hybrid:A>B`, in which B works on the drafts of A."""
    first, mark, second = spec.removeprefix(_HYBRID).partition(">")
    if not mark or not first.strip() or not second.strip():
        raise ConfigError("--generator", f"{spec!r} is not a chain of two", "write hybrid:A>B: B edits what A produced")
    below, above = first.strip(), second.strip()
    if above.startswith(RED_TEAM):
        raise ConfigError("--generator", f"{spec!r}: texts written by people cannot edit drafts", "name it first, as A")
    over = MutationOver(profile) if above == _MUTATION else generator(above, profile)
    return Chain(generator(below, profile), over, (below, above))


def _seconds(spec: str, options: Mapping[str, str], *, only: bool) -> float:
    """How long an external generator may take to answer; for a program this is the only option."""
    text = options.get("timeout", f"{ANSWER_SECONDS:g}")
    if only and (unknown := sorted(options.keys() - {"timeout"})):
        raise ConfigError("--generator", f"{spec!r} has no option {unknown[0]!r}", "use timeout=SECONDS and share=N")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_ANSWER:
        raise ConfigError("--generator", f"{spec!r}: timeout is {text!r}", "give seconds, such as timeout=30")
    return seconds


def _url(name: str, options: Mapping[str, str]) -> str:
    """The URL without those query parameters that are for us."""
    rest = "&".join(f"{key}={value}" for key, value in options.items() if key != "timeout")
    return f"{name}?{rest}" if rest else name


def _load_generator(point: EntryPoint, profile: Profile, options: Mapping[str, str]) -> ProbeGenerator:
    try:
        made: ProbeGenerator = point.load()(profile, **options)
    except Exception as error:
        raise ConfigError("--generator", f"{point.name!r} does not load: {error}", f"repair {point.value}") from error
    return made


def _choose_by_name(flag: str, spec: str, things: Mapping[str, Thing], *others: str) -> Thing:
    if spec not in things:
        known = " or ".join((*sorted(things), *others))
        raise ConfigError(flag, f"{spec!r} is unknown", f"use {known}")
    return things[spec]
