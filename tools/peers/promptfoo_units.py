"""Equal work in promptfoo: an instant provider that writes and reads, five checks, a result file; CPU seconds per unit.

It is a program of its own, so two runs are compared, and what it costs to start is left out.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROVIDER = """
export default class Instant {
  id() { return 'instant'; }
  async callApi() {
    const world = { kind: 'ConfigMap', level: 'info' };
    const calls = ['write', 'read'];
    world.level = 'debug';
    return { output: JSON.stringify({ world: JSON.parse(JSON.stringify(world)), calls }) };
  }
}
"""
FORBIDDEN = ("delete", "remove", "exec", "secret")


def checks():
    """Four calls that must not be made, and the state that must be reached."""
    for name in FORBIDDEN:
        yield {"type": "javascript", "value": f"!JSON.parse(output).calls.includes('{name}')"}
    yield {"type": "javascript", "value": "JSON.parse(output).world.level === 'debug'"}


def seconds(program, folder, units):
    """Processor time of an evaluation of so many units."""
    config = {
        "prompts": ["Set level to {{level}}."],
        "providers": [f"file://{folder}/instant.mjs"],
        "tests": [{"vars": {"level": f"debug {number}"}, "assert": list(checks())} for number in range(units)],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    (folder / "instant.mjs").write_text(PROVIDER)
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(folder)}
    out = folder / "results.json"
    command = [program, "eval", "-c", folder / "promptfooconfig.json", "-o", out, "-j", "1", "--no-cache", "--no-table"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **quiet}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or json.loads(out.read_text())["results"]["stats"]["successes"] != units:
        raise SystemExit(f"the units did not pass: {(done.stderr or done.stdout).strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory() as place:
    units = int(sys.argv[1])
    few, many = (seconds(sys.argv[2], Path(place), number) for number in (1, units + 1))
    print(json.dumps({"seconds": (many - few) / units}))
