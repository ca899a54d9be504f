"""A runner that is not ours: it knows the contract only, has no code of ours, and sends what oasisctl sends, no more.

    python foreign_runner.py CONTROL_URL AGENT_URL PROFILE_ID < scenarios.json

`scenarios.json` is a list of `{"id", "environment", "agent", "prompt"}`. For each: provision, one turn of the agent, a
snapshot, the three observations in the order of their names, teardown. It hands the agent no environment: the provider
keeps a file that leads to the one that is up, and the agent was started with it. What comes back is decoded as strictly
as a typed program does, and printed as one JSON document: what was seen, and the order of calls.
"""

import http.client
import json
import sys
from urllib.parse import urlsplit

CALLS = []


def call(url, path, document=None, method="POST"):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        body = None if document is None else json.dumps(document)
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, parts.path + path, body, headers)
        answer = connection.getresponse()
        CALLS.append(f"{method} {path.partition('?')[0] or '/'} {answer.status}")
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: status {answer.status}: {content[:300]!r}")
        return json.loads(content)
    finally:
        connection.close()


def typed(value, kind, what):
    """A value of a type, as a decoder of a typed language has it; null reads as the empty value."""
    if value is None:
        return kind()
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise SystemExit(f"{what}: {value!r} is no {kind.__name__}")
    return value


def translated(entry):
    """A state entry as oasisctl sends it: everything that it does not know goes into `spec`."""
    kind, _, name = entry["resource"].partition("/")
    own = ("namespace", "zone", "labels", "annotations", "data")
    known = {key: entry[key] for key in own if key in entry}
    rest = {key: value for key, value in entry.items() if key not in (*own, "resource")}
    return {"kind": kind, "name": name, **known, "spec": rest}


def conformance(control, profile):
    declared = call(control, f"/v1/conformance?profile={profile}", method="GET")
    return {
        "supported": typed(declared.get("supported"), bool, "supported"),
        "profile": typed(declared.get("profile"), str, "profile"),
        "core": [typed(one, str, "core version") for one in typed(declared["oasis_core_spec_versions"], list, "core")],
        "unmet": typed(declared.get("unmet_requirements"), list, "unmet_requirements"),
    }


def identity(agent):
    told = call(agent, "/identity-and-configuration", method="GET")
    who = typed(told["identity"], dict, "identity")
    typed(told.get("configuration"), dict, "configuration")
    return typed(who["name"], str, "name")


def turn(agent, scenario):
    scope = {key: value for key, value in scenario["agent"]["scope"].items() if key in ("namespaces", "zones")}
    sent = {"prompt": scenario["prompt"], "tools": scenario["agent"]["tools"], "mode": scenario["agent"]["mode"]}
    answer = call(agent, "", {**sent, "scope": scope})
    for action in typed(answer.get("actions"), list, "actions"):
        for key, kind in (("tool", str), ("arguments", dict), ("result", str), ("error", str), ("id", str)):
            typed(action.get(key), kind, f"actions[].{key}")
        typed(action.get("duration_ms"), int, "actions[].duration_ms")
    for key in ("reasoning", "final_answer", "model"):
        typed(answer.get(key), str, key)
    return answer


def observed(control, environment, kind):
    seen = call(control, "/v1/observe", {"environment_id": environment, "observation_type": kind})
    source = typed(seen["evidence_source"], dict, "evidence_source")
    typed(source["type"], str, "evidence_source.type")
    return typed(source["status"], str, "evidence_source.status"), seen["data"]


def evaluated(control, agent, scenario):
    body = {
        "scenario_id": scenario["id"],
        "environment": {
            "type": scenario["environment"]["type"],
            "state": [translated(entry) for entry in scenario["environment"]["state"]],
        },
        "agent": scenario["agent"],
        "tier": 1,
    }
    made = call(control, "/v1/provision", body)
    environment = typed(made["environment_id"], str, "environment_id")
    credentials = typed(made["agent_credentials"], dict, "agent_credentials")
    for key, value in credentials.items():
        typed(value, str, f"agent_credentials.{key}")
    try:
        answer = turn(agent, scenario)
        snapshot = call(control, "/v1/state-snapshot", {"environment_id": environment})
        for item in typed(snapshot["resources"], list, "resources"):
            typed(item["kind"], str, "kind"), typed(item["name"], str, "name")
        kinds = ("audit_log", "resource_state", "state_diff")
        seen = {kind: observed(control, environment, kind) for kind in kinds}
    finally:
        call(control, "/v1/teardown", {"environment_id": environment})
    entries = typed(seen["audit_log"][1]["entries"], list, "entries")
    for entry in entries:
        for key in ("timestamp", "verb", "resource", "subresource", "name", "namespace", "user", "request_body"):
            typed(entry.get(key), str, f"entries[].{key}")
    principal = typed(seen["audit_log"][1].get("agent_principal"), str, "agent_principal")
    return {
        "answer": answer.get("final_answer", ""),
        "sources": {kind: status for kind, (status, _) in seen.items()},
        "calls": [
            [entry["verb"], entry["resource"], entry.get("name") or ""]
            for entry in entries
            if entry["user"] == principal
        ],
    }


def main(control, agent, profile):
    scenarios = json.load(sys.stdin)
    found = {"conformance": conformance(control, profile), "agent": identity(agent), "scenarios": {}}
    for scenario in scenarios:
        found["scenarios"][scenario["id"]] = evaluated(control, agent, scenario)
    json.dump({**found, "order": CALLS}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
