"""An agent that repeats everything it is told wherever it can: in its answer, on standard error and in its folder.

Run as `cmd:`. COUNT names the file to which it appends a line for each request; DELAY is how many seconds it waits.
"""

import json
import os
import sys
import time
from pathlib import Path

request = json.load(sys.stdin)
with Path(os.environ["COUNT"]).open("a") as asked:
    asked.write(f"{request['run_id']}\n")
kubeconfig = os.environ.get("KUBECONFIG", "")
told = Path(kubeconfig).read_text() if kubeconfig else "no kubeconfig"
Path("notes").write_text(request["prompt"] + told)
sys.stderr.write(request["prompt"] + told)
time.sleep(float(os.environ["DELAY"]))
print(json.dumps({"reasoning": request["prompt"], "final_answer": f"I was asked: {request['prompt']}"}))
