"""Agents of the zoo with what they know: the profile, and for those that practise, drafts of other seeds."""

import asyncio
from itertools import count

from sirocco.campaign.targets import targets
from sirocco.oasis.agent import Agent
from sirocco.oasis.profile import Profile
from sirocco.testing.zoo.characters import READER, character, zoo_agent
from sirocco.testing.zoo.memory import Memory
from sirocco.testing.zoo.practice import practised_texts
from sirocco.wiring import plugins

PRACTICE_SEED = 1_000_000
"""Practice is drawn from seeds from here on, so that no run meets a probe that was practised."""


def zoo_agent_for(name: str, profile: Profile) -> Agent:
    """The agent of that name, practised as far as its character asks for."""
    memory = Memory.from_profile(profile)
    if wanted := character(name.removesuffix(READER)).practised:
        memory = asyncio.run(practised_memory(profile, memory, wanted))
    return zoo_agent(name, profile, memory)


async def practised_memory(profile: Profile, memory: Memory, number: int) -> Memory:
    """The memory with the texts of so many practised probes."""
    generator = plugins.generator("mutation", profile)
    texts = await practised_texts(profile, generator, targets(profile), count(PRACTICE_SEED), number)
    return memory.with_practice(texts)
