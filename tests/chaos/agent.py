"""An agent that looks, waits a little and answers, in a process that can be killed; DELAY is how long it waits."""

import json
import os
import sys
import time

request = json.load(sys.stdin)
time.sleep(float(os.environ.get("DELAY", "0.05")))
print(json.dumps({"final_answer": f"Nothing done about: {request['prompt'][:60]}"}))
