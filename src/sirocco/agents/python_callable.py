"""Agents that are Python callables: `python:package.module:factory`, in a separate process.

The factory is called without arguments, once for every conversation, and returns a callable, or an object with a method
`respond`. Either takes the request as a dictionary and returns the answer as one, directly or as an awaitable.
"""

import importlib.resources
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sirocco.agents.child import NO_FILES, Files
from sirocco.agents.command import files_of, readdressed_request
from sirocco.agents.confinement import ConfinedAgent, Confinement
from sirocco.agents.contract import description_of, response_of
from sirocco.agents.workers import Workers
from sirocco.errors import AgentFault, ConfigError
from sirocco.oasis.agent import AgentDescription, AgentRequest, AgentResponse

_SPEC = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<attribute>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
_DESCRIBING_SECONDS = 120
"""The first question also imports the module, which may load models."""


def search_path(folder: Path) -> tuple[str, ...]:
    """The folders to search for a module besides the interpreter's own: the current one, and PYTHONPATH."""
    listed = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return (str(folder.absolute()), *(str(Path(entry).absolute()) for entry in listed if entry))


def needed_files(folder: Path) -> tuple[Path, ...]:
    """The files that the process must be able to read."""
    return (Path(sys.executable), Path(sys.prefix), *(Path(entry) for entry in search_path(folder)))


class PythonAgent(ConfinedAgent):
    """`python:package.module:factory`."""

    def __init__(
        self,
        spec: str,
        folders: Sequence[str],
        confined: Confinement,
        files: Callable[[], Files] = lambda: NO_FILES,
    ) -> None:
        parts = _SPEC.fullmatch(spec)
        if not parts:
            raise ConfigError("--agent", f"{spec!r} does not name a callable", "write python:package.module:factory")
        self._confined = confined
        self._where = f"python:{spec}"
        program = importlib.resources.files("sirocco.agents").joinpath("python_host.py").read_text(encoding="utf-8")
        command = [sys.executable, "-P", "-c", program, parts["module"], parts["attribute"], json.dumps(list(folders))]
        self._workers = Workers(self._where, command, confined, files)

    async def describe(self) -> AgentDescription:
        """The result of its `describe`, or its attributes `identity` and `configuration`, or its name."""
        asked = {"ask": "describe"}
        return description_of(self._unwrap_answer(await self._workers.ask(asked, _DESCRIBING_SECONDS)), self._where)

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Call it with the request."""
        request = readdressed_request(request, self._confined)
        asked = {"ask": "respond", "request": request.document()}
        answer = await self._workers.ask(asked, request.deadline_seconds, files_of(request))
        return response_of(self._unwrap_answer(answer), self._where)

    async def close(self) -> None:
        """End the agent's processes."""
        await self._workers.close()

    def _unwrap_answer(self, said: Any) -> Any:
        """The answer in the process's output; raise AgentFault with any error of the callable."""
        if isinstance(said, Mapping) and "answer" in said:
            return said["answer"]
        problem = said.get("fault") if isinstance(said, Mapping) else None
        text = problem if isinstance(problem, str) else "something else wrote to the answer pipe"
        remedy = "fix the agent, so that it answers instead of raising"
        if text.startswith("ModuleNotFoundError"):
            remedy = "run Sirocco in the folder that holds the module, with the Python that has its packages"
        raise AgentFault(self._where, text, remedy)
