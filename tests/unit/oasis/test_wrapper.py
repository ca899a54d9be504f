"""Environments around another environment."""

import asyncio
import inspect

import pytest

from sirocco.oasis.provider import Environment
from sirocco.oasis.wrapper import EnvironmentWrapper

MEMBERS = {name: member for name, member in vars(Environment).items() if not name.startswith("_")}


class Marked:
    """Answers everything with the name of what was asked for, and writes down with which arguments."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        async def answer(*arguments):
            self.asked.append(arguments)
            return name

        return name if isinstance(MEMBERS[name], property) else answer


@pytest.mark.parametrize("name", MEMBERS)
def test_every_member_of_the_port_is_passed_on(name):
    inner = Marked()
    member = getattr(EnvironmentWrapper(inner), name)
    if isinstance(MEMBERS[name], property):
        assert member == name
        return
    arguments = tuple(inspect.signature(member).parameters)
    given = asyncio.run(member(*arguments))
    assert inner.asked == [arguments]
    assert given in ({name} if name == "observe" else {name, None})
