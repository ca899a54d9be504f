"""Damaged input of every kind, as often as one likes: `python tests/fuzz/run.py --executions 100000 --seed 1`.

A target takes bytes and gives them to the part of the program that reads such bytes; any end but an answer or a refusal
that names a problem is a failure. What failed is written to `found`, and belongs into `corpus` once it is mended: inputs
there are tried first each time.
"""

import argparse
import hashlib
import json
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent)]

from bundled import small_profile_folder  # noqa: E402 - where it is, is known only now
from damage import damaged_data, mutated  # noqa: E402
from kubesim.access import Principal  # noqa: E402
from kubesim.audit_log import AuditLog  # noqa: E402
from kubesim.bare import bare_api  # noqa: E402
from kubesim.handling.request import Request  # noqa: E402
from loading import load_profile  # noqa: E402
from recorded_run import Told, recorded_run  # noqa: E402
from sirocco.agents.contract import description_of, document_of, response_of, trail_of  # noqa: E402
from sirocco.conformance.checking import check_document  # noqa: E402
from sirocco.domains.kubernetes.bundled import bundled_profile_folder  # noqa: E402
from sirocco.errors import AgentFault, SiroccoError  # noqa: E402
from sirocco.oasis.probe import Cell  # noqa: E402
from sirocco.probes.wire import BadAnswer, answer_from_document, offers_from_document, plain_json  # noqa: E402
from sirocco.profiles.load import load_scenario_file  # noqa: E402
from sirocco.wiring.profile_source import required_profile  # noqa: E402
from sirocco.wiring.replay import replay  # noqa: E402

SLOW = 20.0
"""Seconds after which an answer is taken for a hang."""


@dataclass(frozen=True)
class Target:
    """What reads bytes, whole inputs to begin with, and how many of a hundred executions it gets."""

    read: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    share: int

    def input(self, dice: random.Random) -> bytes:
        """A damaged input: as bytes, or as the data that it holds."""
        seed = dice.choice(self.seeds)
        if dice.random() < 0.5:
            try:
                return json.dumps(damaged_data(json.loads(seed), dice)).encode()
            except ValueError:
                pass
        return mutated(seed, dice)


def targets(folder: Path) -> Mapping[str, Target]:
    """Every kind of input, by name."""
    return {
        "scenario": _scenario(folder / "scenario.yaml"),
        "profile": _profile(folder / "profile"),
        "agent": _agent(),
        "generator": _generator(),
        "verdict": _verdict(folder / "verdict"),
        "bundle": _bundle(folder / "bundle"),
        "cluster": _cluster(),
    }


def _scenario(file: Path) -> Target:
    profile, _ = required_profile("kubernetes_operations")
    seeds = tuple(path.read_bytes() for path in sorted(bundled_profile_folder().rglob("scenarios/**/*.yaml")))

    def read(content: bytes) -> None:
        file.write_bytes(content)
        for finding in load_scenario_file(file, profile).findings:
            assert finding.problem
            assert finding.remedy

    return Target(read, seeds, 8)


def _profile(folder: Path) -> Target:
    small_profile_folder(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())

    def read(content: bytes) -> None:
        place = files[content[0] % len(files)] if content else files[0]
        kept = place.read_bytes()
        place.write_bytes(content)
        try:
            loaded = load_profile(folder)
            assert loaded.profile is not None or loaded.findings
        finally:
            place.write_bytes(kept)

    return Target(read, tuple(path.read_bytes() for path in files), 2)


_ANSWER = {
    "actions": [{"tool": "kubectl", "arguments": {"verb": "get", "n": 1}, "result": {"ok": [1, 2.5, None]}, "error": None}],
    "reasoning": "I looked at it.", "final_answer": "Done.", "audit_trail": [{"verb": "get", "at": "2026-01-01T00:00:00Z"}],
    "model": "m-1", "more": {"x": [True]},
}  # fmt: skip
_DESCRIPTION = {
    "identity": {"name": "a", "version": 1.0, "description": "an agent", "vendor": "v"},
    "configuration": {"k": [1, {"m": "n"}]}, "tools": ["kubectl"], "mode": "autonomous",
}  # fmt: skip


def _agent() -> Target:
    def read(content: bytes) -> None:
        try:
            document = document_of(content, "agent")
        except AgentFault:
            return
        for meaning in (response_of, description_of, trail_of):
            try:
                meaning(document, "agent")
            except AgentFault:
                continue

    return Target(read, tuple(json.dumps(one).encode() for one in (_ANSWER, _DESCRIPTION, _ANSWER["audit_trail"])), 35)


def _generator() -> Target:
    draft = {
        "draft": {
            "index": 1, "primary_archetype": "S-PI-001", "scenario": {"id": "x", "stimuli": [{"type": "operator_prompt"}]},
            "lineage": ["rename"], "base": {"scenario": "y"}, "technique": "noise", "surface": "logs",
        },
        "usage": {"requests": 1, "input_tokens": 3, "cost": 0.1},
    }  # fmt: skip
    offers = {"offers": [{"archetype": "S-PI-001", "technique": "noise", "surface": "logs"}]}

    def read(content: bytes) -> None:
        try:
            document = plain_json(json.loads(content))
        except (ValueError, BadAnswer, RecursionError):
            return
        for meaning in (
            lambda one: answer_from_document(one, Cell(1, "S-PI-001")),
            lambda one: offers_from_document(one.get("offers") if isinstance(one, dict) else one),
        ):
            try:
                meaning(document)
            except BadAnswer:
                continue

    return Target(read, tuple(json.dumps(one).encode() for one in (draft, offers, {"nothing": "there is none"})), 25)


def _verdict(folder: Path) -> Target:
    document = (recorded_run(folder, Told()) / "verdict.json").read_bytes()

    def read(content: bytes) -> None:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            return
        check_document(data)

    return Target(read, (document,), 8)


def _bundle(folder: Path) -> Target:
    run = recorded_run(folder / "run", Told(deletes=True))
    files = sorted(path.relative_to(run) for path in run.rglob("*") if path.is_file() and path.name != "run.lock")
    whole = {name: (run / name).read_bytes() for name in files}
    seeds = tuple(bytes([number]) + whole[name] for number, name in enumerate(files))

    def read(content: bytes) -> None:
        name = files[content[0] % len(files)] if content else files[0]
        copy = shutil.copytree(run, folder / "copy")
        (copy / name).write_bytes(content[1:])
        with suppress(SiroccoError):
            replay(copy)
        shutil.rmtree(copy)

    return Target(read, seeds, 2)


_PODS, _DEPLOYMENTS = "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments"
_POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}],
                                 "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}], "nodeName": "n"}}  # fmt: skip
_DEPLOYMENT = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"},
               "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "a"}},
                        "template": {"metadata": {"labels": {"app": "a"}}, "spec": _POD["spec"]}}}  # fmt: skip
_CALLS: tuple[tuple[str, str, str, Any], ...] = (
    ("GET", _PODS, "", None),
    ("GET", "/api/v1/pods", "labelSelector=app%20in%20(a,b)&fieldSelector=metadata.name%3Da&limit=2", None),
    ("POST", _PODS, "application/json", _POD),
    ("POST", _DEPLOYMENTS, "application/json", _DEPLOYMENT),
    ("PUT", f"{_DEPLOYMENTS}/d", "application/json", _DEPLOYMENT),
    ("PATCH", f"{_DEPLOYMENTS}/d", "application/merge-patch+json", {"spec": {"replicas": 3}, "metadata": {"labels": {"b": None}}}),
    ("PATCH", f"{_DEPLOYMENTS}/d", "application/strategic-merge-patch+json", {"spec": {"template": {"spec": _POD["spec"]}}}),
    ("PATCH", f"{_DEPLOYMENTS}/d", "application/json-patch+json", [{"op": "replace", "path": "/spec/replicas", "value": 1}]),
    ("PATCH", f"{_PODS}/a?fieldManager=m&force=true", "application/apply-patch+yaml", _POD),
    ("DELETE", f"{_PODS}/a", "application/json", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}),
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json",
     {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {"resourceAttributes": {"verb": "get"}}}),
)  # fmt: skip


def _cluster() -> Target:
    """Requests one after the other to a server that is founded anew now and then."""
    admin, asked = Principal("admin", "", ("system:masters", "system:authenticated")), Counter[str]()
    server = [bare_api({"t": admin}, AuditLog(), lambda: "2026-01-05T09:00:00.000000Z")]

    def read(content: bytes) -> None:
        head, _, body = content.partition(b"\n")
        method, _, rest = head.decode("latin-1").partition(" ")
        place, _, kind = rest.partition(" ")
        path, _, query = place.partition("?")
        asked["all"] += 1
        if not asked["all"] % 500:
            server[0] = bare_api({"t": admin}, AuditLog(), lambda: "2026-01-05T09:00:00.000000Z")
        headers = {"authorization": "Bearer t", "content-type": kind, "accept": "application/json"}
        # A real server answers some nonsense with status 500 too; only an exception is ours.
        server[0].handle(Request.from_network(method, path, query, headers, body, "10.0.0.2"))

    seeds = tuple(
        f"{method} {path} {kind}\n".encode() + json.dumps(body).encode() for method, path, kind, body in _CALLS
    )
    return _Requests(read, seeds, 20)


class _Requests(Target):
    """Inputs whose first line says where to, and whose rest is data."""

    def input(self, dice: random.Random) -> bytes:
        """Head and body damaged apart."""
        head, _, body = dice.choice(self.seeds).partition(b"\n")
        if dice.random() < 0.3:
            head = mutated(head, dice).replace(b"\n", b"")
        parts = Target(self.read, (body,), 0)
        return head + b"\n" + parts.input(dice)


def kept_inputs(name: str) -> Iterator[bytes]:
    """Inputs that once failed."""
    yield from (file.read_bytes() for file in sorted((HERE / "corpus").glob(f"{name}-*")))


def execute(target: Target, content: bytes) -> str | None:
    """Read an input; what is wrong when that ends as it must not."""
    begun = time.monotonic()
    try:
        target.read(content)
    except Exception as error:  # noqa: BLE001 - everything that is no refusal is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {place.name}, line {place.lineno} of {Path(place.filename).name}: {error}"[
            :400
        ]
    taken = time.monotonic() - begun
    return f"it took {taken:.0f} s" if taken > SLOW else None


def fuzz(executions: int, seed: int, names: tuple[str, ...] = (), found: Path | None = None) -> list[str]:
    """Execute so many damaged inputs, and all that are kept; what failed, each with its target."""
    failures: list[str] = []
    with TemporaryDirectory(prefix="fuzz-") as folder:
        chosen = {name: one for name, one in targets(Path(folder)).items() if not names or name in names}
        shares = sum(one.share for one in chosen.values())
        for name, target in chosen.items():
            dice = random.Random(f"{seed} {name}")
            drawn = (target.input(dice) for _ in range(executions * target.share // shares))
            for content in (*kept_inputs(name), *target.seeds, *drawn):
                if problem := execute(target, content):
                    failures.append(f"{name}: {problem}")
                    if found is not None:
                        found.mkdir(exist_ok=True)
                        (found / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
    return failures


def main() -> int:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", default=[])
    asked = parser.parse_args()
    begun = time.process_time()
    failures = fuzz(asked.executions, asked.seed, tuple(asked.target), HERE / "found")
    for problem, number in Counter(failures).most_common():
        print(f"{number} times {problem}")
    print(
        f"{asked.executions} executions with seed {asked.seed}, {len(failures)} failures, {time.process_time() - begun:.0f} s of processor time"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
