"""Equal work in AgentDojo: a suite's default environment, a task's own calls and checks; CPU seconds per unit."""

import json
import sys
import tempfile
import time
from pathlib import Path

from agentdojo.agent_pipeline import AgentPipeline, GroundTruthPipeline, InitQuery
from agentdojo.benchmark import run_task_without_injection_tasks
from agentdojo.logging import OutputLogger
from agentdojo.task_suite import get_suite


def run(units, folder):
    """Run the task so many times."""
    suite = get_suite("v1.2", "banking")
    task = suite.user_tasks["user_task_3"]
    pipeline = AgentPipeline([InitQuery(), GroundTruthPipeline(task)])
    pipeline.name = "instant"
    with OutputLogger(str(folder)):
        for _ in range(units):
            passed, _ = run_task_without_injection_tasks(suite, pipeline, task, Path(folder), force_rerun=True)
            if not passed:
                raise SystemExit("the unit did not pass")


with tempfile.TemporaryDirectory() as folder:
    wanted = int(sys.argv[1])
    run(3, folder)
    start = time.process_time()
    run(wanted, folder)
    print(json.dumps({"seconds": (time.process_time() - start) / wanted}))
