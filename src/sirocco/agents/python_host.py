"""Runs a Python callable in a separate process: a line of JSON in, a line of JSON out.

The text of this module runs as a program in an interpreter without the other modules, so it imports only the standard
library. Arguments: the module, the attribute in it, and the folders to import from, as JSON.
"""

import asyncio
import dataclasses
import importlib
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any


class Host:
    """The callable, and the agent that it made for the current conversation."""

    def __init__(self, module: str, attribute: str, runner: asyncio.Runner) -> None:
        self._module = importlib.import_module(module)
        found: Any = self._module
        for name in attribute.split("."):
            found = getattr(found, name)
        if not callable(found):
            raise TypeError(f"{module}:{attribute} is {type(found).__name__}, which cannot be called")
        self._named = f"{module}:{attribute}"
        self._found = found
        self._runner = runner
        self._agent: Any = None
        self._run_id: object = None
        self._turns = 0

    def answer(self, asked: dict[str, Any]) -> Any:
        """The answer to the question in one line."""
        if asked["ask"] == "describe":
            return self._description(self._make_agent())
        request = asked["request"]
        turns = len(request["conversation"])
        # A conversation that grows is the same one; anything else is a new one, with a fresh agent.
        if self._agent is None or request["run_id"] != self._run_id or turns <= self._turns:
            self._agent = self._make_agent()
        self._run_id, self._turns = request["run_id"], turns
        respond = getattr(self._agent, "respond", self._agent)
        given = self._await_value(respond(request))
        return {"final_answer": given} if isinstance(given, str) else {} if given is None else given

    def _make_agent(self) -> Any:
        """The agent that the factory returns; a callable that takes a request is the agent itself."""
        if _takes_request(self._found):
            return self._found
        made = self._await_value(self._found())
        if not callable(made) and not callable(getattr(made, "respond", None)):
            raise TypeError(f"{self._named}() gave {type(made).__name__}, which is not an agent: it cannot be called")
        return made

    def _description(self, agent: Any) -> Any:
        describe = getattr(agent, "describe", None)
        if callable(describe):
            return self._await_value(describe())
        identity = {"name": self._named, "version": str(getattr(self._module, "__version__", "unknown"))}
        said = getattr(agent, "identity", None)
        return {
            "identity": said if isinstance(said, dict) else identity,
            "configuration": getattr(agent, "configuration", None) or {},
        }

    def _await_value(self, value: Any) -> Any:
        async def result() -> Any:
            return await value

        return self._runner.run(result()) if inspect.isawaitable(value) else value


def _takes_request(found: Callable[..., Any]) -> bool:
    """Whether a callable requires an argument, which makes it an agent rather than a factory."""
    if inspect.isclass(found):
        return False
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)


def _plain_json(value: Any) -> Any:
    """The JSON equivalent of a value of another type."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _fault(error: BaseException) -> str:
    """The exception, and where in the agent's own code it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""  # noqa: PTH119 - a name in a message
    return f"{type(error).__name__}: {error}{place}".encode(errors="replace").decode()


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, allow_nan=False, default=_plain_json).encode() + b"\n"


def main(module: str, attribute: str, folders: str) -> None:
    """Answer questions until the input ends; what the callable prints goes to standard error."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - this program has no other use for paths
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.path[:0] = json.loads(folders)
    sys.argv = [module]
    host: Host | None = None
    with asyncio.Runner() as runner:
        for line in asked:
            try:
                host = host or Host(module, attribute, runner)
                said = _line({"answer": host.answer(json.loads(line))})
            except BaseException as error:
                traceback.print_exc()
                said = _line({"fault": _fault(error)})
                if isinstance(error, KeyboardInterrupt):
                    raise
            answers.write(said)


if __name__ == "__main__":
    main(*sys.argv[1:])
