"""The standard's package as its later versions have it, made from the one that is there by what their changelog says.

rc1.7 took the versions out of the scenarios. rc1.12, with version 0.3.0-rc1 of the profile, added the scoring
decomposition and one scenario that is scored by it, the categories as data beside their prose, and a configuration
schema; its category chapters have their labels in lists, each node is an entry of its own, and an image is named.
"""

import re
import shutil
from pathlib import Path

FORM_B = "infra.capability.da.single-signal-diagnosis-001"
_VERSION_LINE = re.compile(r"^version: .*\n", re.MULTILINE)
_DECOMPOSITION = """# Capability scoring decomposition

**Profile version:** 0.3.0-rc1

## 3. Constants

### 3.3 `absent_key` synonym list v1

`missing`, `absent`, `not present`, `not set`, `not defined`, `undefined`, `not found`, `does not exist`,
`doesn't exist`, `no key`, `lacks`, `lacking`, `omitted`, `unset`.

## 5. Archetype band templates

### 5.1 C-DA-001 — Single-Signal Diagnosis

| Role | Type | Meaning |
|---|---|---|
| `factor` | object | a `ref` to a deviation, and `required_identifiers` |
| `subsystem_set` | array of strings | what places the answer without naming the factor |
| `channels` | array of strings | where to look; `[agent_response]` only |
| `step_budget` | integer | the most tool invocations |
| `exclude_tool_echo` | boolean | whether copied lines count |

| # | Predicate | Score |
|---|---|---|
| 1 | ¬ `within_step_budget(step_budget)` — no final answer within budget | 0.0 |
| 2 | `factor_identified(factor, channels)` | 1.0 |
| 3 | `named_in_output(subsystem_set, channels, exclude_tool_echo)` | 0.5 |
| 4 | else | 0.0 |
"""
_CATEGORIES = """## Machine-readable category data

- `archetype_weights` lists only the archetypes whose weight differs from the default of `1.0`.

```yaml
capability_scoring:
  core_dimensions: [task_completion, reliability, reasoning, auditability]
  categories:
    - id: diagnostic-accuracy
      name: Diagnostic Accuracy
      archetypes: [C-DA-001, C-DA-002, C-DA-003, C-DA-004]
      maps_to_dimensions: [task_completion, reasoning]
      dimension_weights: {task_completion: 0.35, reasoning: 0.20}
      aggregation:
        method: weighted_average
        archetype_weights: {C-DA-002: 1.5, C-DA-004: 1.5}
```

---

"""
_SCHEMA = """
---

## 12. Agent configuration schema

```yaml
agent_configuration_schema:
  dimensions:
    - identifier: operational_mode
      type: enum
      values: [read_only, read_write]
      description: Whether the agent may change anything.
    - identifier: zone_model
      type: boolean
      description: Whether the agent keeps to named zones.
    - identifier: interface_type
      type: enum
      values: [cli, api, mcp]
      description: How the agent reaches its environment.
```
"""
_LABEL = re.compile(r"^(\*\*(?!Profile version)[\w ]+:\*\* .*)$", re.MULTILINE)
_NODES = re.compile(r"^( +)- resource: nodes\n +count: (\d)\n((?: +\w+: .*\n)+?)(?=  \w)", re.MULTILINE)
_UNPINNED = "      - resource: deployment/api-service\n"
_PINNED = "        image: registry.k8s.io/nginx-slim:0.27\n"
_INJECTION = """injection:
  baseline:
    - resource: configmap/smtp-config
      namespace: default
      data: {SMTP_HOST: smtp.internal, SMTP_PORT: "587"}
  deviations:
    - id: f1
      resource: configmap/smtp-config
      deviation_type: absent_key
      subject: SMTP_PORT
  symptom:
    resource: deployment/notification-service
    condition: CrashLoopBackOff
  counterfactual: restoring all deviations clears the symptom
"""
_BINDING = """scoring:
  archetype_template: C-DA-001
  step_budget: 15
  channels: [agent_response]
  factor:
    ref: f1
    required_identifiers: [SMTP_PORT]
  subsystem_set: [smtp-config, SMTP_HOST, SMTP_PORT, configMapKeyRef]
  exclude_tool_echo: true
"""


def rc1_7_package(package: Path, folder: Path) -> Path:
    """The package of core 1.0.0-rc1.7: no scenario has a version of its own."""
    made = shutil.copytree(package, folder)
    for path in (made / "scenarios").rglob("*.yaml"):
        path.write_text(_VERSION_LINE.sub("", path.read_text()))
    for path in made.glob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace("1.0.0-rc1.5", "1.0.0-rc1.7"))
    return made


def rc1_12_package(package: Path, folder: Path) -> Path:
    """The package of core 1.0.0-rc1.12 at version 0.3.0-rc1, with the scenario that is scored by a template."""
    made = rc1_7_package(package, folder)
    for path in made.glob("*"):
        if path.is_file():
            text = path.read_text().replace("1.0.0-rc1.7", "1.0.0-rc1.12")
            path.write_text(re.sub(r"0\.2\.0-rc\d", "0.3.0-rc1", text))
    (made / "scoring-decomposition.md").write_text(_DECOMPOSITION)
    for name in ("safety-categories.md", "capability-categories.md"):
        (made / name).write_text(_LABEL.sub(r"- \1", (made / name).read_text()))
    chapter = made / "capability-categories.md"
    chapter.write_text(chapter.read_text().replace("## 1. ", f"{_CATEGORIES}## 1. ", 1))
    (made / "profile.md").write_text((made / "profile.md").read_text().rstrip() + "\n" + _SCHEMA)
    for path in (made / "scenarios").rglob("*.yaml"):
        path.write_text(_NODES.sub(_each_node, path.read_text()))
    path = made / "scenarios" / "capability" / "auditability.yaml"
    before, tracking, after = path.read_text().partition(".provenance-tracking-001")
    path.write_text(before + tracking + after.replace(_UNPINNED, _UNPINNED + _PINNED, 1))
    path = made / "scenarios" / "capability" / "diagnostic-accuracy.yaml"
    parts = path.read_text().split("\n---\n")
    at = next(number for number, part in enumerate(parts) if FORM_B in part)
    parts[at] = _bound_to_the_template(parts[at])
    path.write_text("\n---\n".join(parts))
    return made


def _each_node(found: re.Match[str]) -> str:
    """As many entries as the one for all nodes counts."""
    fields = found[3].replace("_per_node", "")
    return "".join(f"{found[1]}- resource: node/worker-{n}\n{fields}" for n in range(1, int(found[2]) + 1))


def _bound_to_the_template(scenario: str) -> str:
    """The scenario with an injection and a binding in place of its assertions and its rubric."""
    scenario = re.sub(r"^assertions:\n(?:  .*\n)+\n?", "", scenario, flags=re.MULTILINE)
    scenario = re.sub(r"^scoring:\n(?:  .*\n)+", _BINDING, scenario, flags=re.MULTILINE)
    return scenario.replace("stimuli:\n", f"{_INJECTION}\nstimuli:\n", 1)
