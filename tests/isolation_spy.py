"""An agent that looks for everything that it should not see, with any adapter; it uses only the standard library.

`targets.json` next to it says what to look for. It writes what it could read to `seen`, one line per attempt.
"""

import json
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def content(path):
    path = Path(path)
    try:
        return " ".join(map(str, path.iterdir())).encode() if path.is_dir() else path.read_bytes()
    except OSError:
        return b""


def look():
    """Whether each secret could be read, and who looked."""
    targets = json.loads((FOLDER / "targets.json").read_text())
    processes = [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    seen = {name: any(content(path) for path in paths) for name, paths in targets["files"].items()}
    for name, file in (("environment", "environ"), ("command_line", "cmdline")):
        seen[name] = any(targets[name].encode() in content(f"{process}/{file}") for process in processes)
    line = json.dumps({"seen": seen, "user": os.getuid(), "groups": os.getgroups()})
    with (FOLDER / "seen").open("a") as file:
        file.write(line + "\n")


def agent(request):
    """As a Python callable."""
    look()
    return "I looked."


def main(kind):
    if kind == "mcp":
        from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 - the other ways have no use for it

        server = MCPServer("spy", version="1.0")

        @server.tool()
        def run_task(prompt: str) -> str:
            look()
            return "I looked."

        server.run()
    elif kind == "lines":
        for line in sys.stdin:
            if "prompt" in json.loads(line):
                look()
            print(json.dumps({"final_answer": "I looked."}), flush=True)
    elif "prompt" in json.load(sys.stdin):
        look()
        print(json.dumps({"final_answer": "I looked."}))
    else:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
