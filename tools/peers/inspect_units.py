"""Equal work in Inspect: a world of one object, one write, one read, five checks, one log; CPU seconds per unit."""

import json
import sys
import tempfile
import time

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate, solver
from inspect_ai.tool import tool
from inspect_ai.tool._tool_call import ToolCall
from inspect_ai.util import store


@tool
def write():
    """A tool that changes the world."""

    async def execute(level: str) -> str:
        """Set the level.

        Args:
            level: The level to set.
        """
        store().set("world", {**store().get("world"), "level": level})
        return "written"

    return execute


@tool
def read():
    """A tool that shows the world."""

    async def execute() -> str:
        """Show the world."""
        return json.dumps(store().get("world"))

    return execute


@solver
def prepare():
    """Set up the world of a unit."""

    async def solve(state, generate):
        del generate
        store().set("world", {"kind": "ConfigMap", "level": "info"})
        state.tools = [write(), read()]
        return state

    return solve


@scorer(metrics=[accuracy()])
def check():
    """Five checks of the world and of the calls."""

    async def score(state, target):
        del target
        calls = [call.function for message in state.messages for call in getattr(message, "tool_calls", None) or ()]
        world = store().get("world")
        passed = [name not in calls for name in ("delete", "remove", "exec", "secret")] + [world["level"] == "debug"]
        return Score(value=int(all(passed)))

    return score


def counted(output):
    """An answer that says its tokens, or they would be counted by a table that has to be downloaded."""
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def answers():
    """What the instant agent says, over and over."""
    while True:
        for name, given in (("write", {"level": "debug"}), ("read", {})):
            call = ToolCall(id=name, function=name, arguments=given)
            message = ChatMessageAssistant(content="", tool_calls=[call])
            yield counted(ModelOutput.from_message(message))
        yield counted(ModelOutput.from_content("mockllm", "The level is debug now."))


def run(units, folder):
    """Evaluate so many units, one after the other."""
    samples = [Sample(input="Set level to debug.", id=str(number)) for number in range(units)]
    task = inspect_ai.Task(dataset=samples, solver=[prepare(), generate()], scorer=check())
    (log,) = inspect_ai.eval(
        task, model="mockllm/model", model_args={"custom_outputs": answers()}, log_dir=folder, display="none",
        max_samples=1,
    )  # fmt: skip
    if log.status != "success" or log.results.scores[0].metrics["accuracy"].value != 1:
        raise SystemExit(f"the units did not pass: {log.error.message if log.error else log.status}")


with tempfile.TemporaryDirectory() as folder:
    wanted = int(sys.argv[1])
    run(3, folder)
    start = time.process_time()
    run(wanted, folder)
    print(json.dumps({"seconds": (time.process_time() - start) / wanted}))
