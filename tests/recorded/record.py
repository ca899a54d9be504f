"""Record what a real, current kube-apiserver answers to the older cases and to those of `modern_cases`.

python tests/recorded/record.py [--only TEXT] [--show CASE] [--assets FOLDER]

The server is started for it, alone on loopback: no controllers, no scheduler, no kubelet, and every request on its audit
log. Everything is asked of two servers, one after the other; a step whose answers differ between the two is one that
nobody can be compared with, and is named. `make control-plane` builds the programs.
"""

import argparse
import asyncio
import copy
import importlib.util
import json
import lzma
import os
import shutil
import ssl
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubesim.access.signing import ISSUER, Signer
from kubesim.serving.certificates import Authority
from recorded.modern_cases import modern_cases
from sirocco.domains.kubernetes.cluster.programs import Child, Programs, find_programs, free_port

DATA = Path(__file__).parents[1] / "data" / "kube-apiserver"
RECORDED = DATA / "current.json.xz"
"""One document: the version of the server, and every case with what it answered."""
_START_SECONDS = 90.0
_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "RequestResponse"}]}
_RECORDED = ("response", "audit", "auditNote")
"""What a recording adds to the steps of a case."""


def comparer() -> Any:
    """The tool that sends the cases and makes their answers comparable; it came with the older recordings."""
    spec = importlib.util.spec_from_file_location("compare", DATA / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded() -> dict[str, Any]:
    """What was recorded last."""
    return dict(json.loads(lzma.decompress(RECORDED.read_bytes())))


@contextmanager
def served(programs: Programs, users: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """A fresh server for these users, for the length of the block: its URL, and the file of its audit log."""
    folder = Path(tempfile.mkdtemp(prefix="recorded-"))
    children = []
    try:
        client, peer, port = free_port(), free_port(), free_port()
        authority = Authority.from_seed(1, time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime()))
        identity = authority.issue(("127.0.0.1", "localhost"))
        tokens = "".join(
            ",".join((user["token"], user["username"], user["uid"], f'"{",".join(user["groups"])}"')) + "\n"
            for user in users.values()
        )
        files = {
            "server.crt": identity.certificate, "server.key": identity.key, "tokens.csv": tokens,
            "accounts.key": Signer(1).private_key_text(),
        }  # fmt: skip
        for name, text in {**files, "policy.yaml": json.dumps(_POLICY)}.items():
            (folder / name).write_text(text)
        etcd = [
            f"--data-dir={folder / 'etcd'}", f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}", f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}", "--log-level=error",
        ]  # fmt: skip
        server = [
            f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1", f"--secure-port={port}",
            f"--tls-cert-file={folder / 'server.crt'}", f"--tls-private-key-file={folder / 'server.key'}",
            f"--token-auth-file={folder / 'tokens.csv'}", "--authorization-mode=RBAC", "--allow-privileged=true",
            "--service-cluster-ip-range=10.96.0.0/16", "--disable-admission-plugins=ServiceAccount",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={folder / 'accounts.key'}",
            f"--service-account-signing-key-file={folder / 'accounts.key'}",
            f"--audit-policy-file={folder / 'policy.yaml'}", f"--audit-log-path={folder / 'audit.log'}",
            "--audit-log-mode=blocking", "--audit-log-maxsize=100000", "--endpoint-reconciler-type=none",
            f"--cert-dir={folder}",
        ]  # fmt: skip
        children.append(Child(programs.etcd, etcd, folder / "etcd.log"))
        children.append(Child(programs.apiserver, server, folder / "server.log"))
        base = f"https://127.0.0.1:{port}"
        _wait_until_ready(base, users["admin"]["token"], children[-1])
        yield base, folder / "audit.log"
    finally:
        for child in reversed(children):
            child.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(base: str, token: str, server: Child) -> None:
    context = ssl._create_unverified_context()
    deadline = time.monotonic() + _START_SECONDS
    while True:
        request = urllib.request.Request(f"{base}/readyz", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, context=context, timeout=5):
                break
        except OSError as error:
            if server.has_ended or time.monotonic() > deadline:
                raise SystemExit(f"the server does not come up: {server.last_words}") from error
            time.sleep(0.2)
    # Roles and flow schemas are written a moment after the server is ready.
    time.sleep(3)


def server_version(programs: Programs) -> str:
    """What the server calls itself."""

    async def ask() -> str:
        process = await asyncio.create_subprocess_exec(programs.apiserver, "--version", stdout=asyncio.subprocess.PIPE)
        told, _ = await process.communicate()
        return told.decode().split()[-1]

    return asyncio.run(ask())


def unanswered_cases() -> list[dict[str, Any]]:
    """Every case as it is asked: the older ones without what was recorded, and the newer ones."""
    older = [json.loads(file.read_text()) for file in sorted((DATA / "cases").glob("*/*.json"))]
    for case in older:
        case["steps"] = [{key: step[key] for key in step if key not in _RECORDED} for step in case["steps"]]
    return [*older, *modern_cases()]


def record_once(cases: list[dict[str, Any]], programs: Programs, users: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cases with what a fresh server answered."""
    compare = comparer()
    answered = []
    with served(programs, users) as (base, log):
        client, audit = compare.Client(base), compare.Audit(path=str(log))
        for case in cases:
            found, problems = compare.run_case(case, client, users, audit, True)
            for problem in problems:
                print(f"{case['area']}/{case['name']}: {problem}", file=sys.stderr)
            done = copy.deepcopy(case)
            done["steps"] = [{**step, **one} for step, one in zip(done["steps"], found, strict=True)]
            answered.append(done)
    return answered


def unsteady_steps(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """The steps that two servers did not answer alike, by area, case and number."""
    compare, found = comparer(), []
    for one, other in zip(first, second, strict=True):
        names: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for number, (left, right) in enumerate(zip(one["steps"], other["steps"], strict=True), 1):
            told = [compare.diff(left[key], right[key], names) for key in ("response", "audit")]
            if any(told):
                print(f"{one['area']}/{one['name']} step {number} is not steady: {told}", file=sys.stderr)
                found.append((one["area"], one["name"], number))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose area/name contains this; nothing is written then")
    parser.add_argument("--show", default="", help="print a recorded case, and record nothing")
    parser.add_argument("--assets", help="the folder of the programs")
    options = parser.parse_args()
    if options.show:
        found = [case for case in recorded()["cases"] if options.show in f"{case['area']}/{case['name']}"]
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    programs = find_programs(os.environ | ({"KUBEBUILDER_ASSETS": options.assets} if options.assets else {}))
    users = json.loads((DATA / "users.json").read_text())
    cases = [case for case in unanswered_cases() if options.only in f"{case['area']}/{case['name']}"]
    first = record_once(cases, programs, users)
    if options.only:
        print(json.dumps(first, indent=1, ensure_ascii=False))
        return 0
    unsteady = unsteady_steps(first, record_once(cases, programs, users))
    for area, name, number in unsteady:
        case = next(one for one in first if (one["area"], one["name"]) == (area, name))
        case["steps"][number - 1]["unsteady"] = True
    document = {"version": server_version(programs), "cases": first}
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    RECORDED.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    steps = sum(len(case["steps"]) for case in first)
    print(f"{document['version']}: {len(first)} cases, {steps} steps, {len(unsteady)} not steady")
    return 0


if __name__ == "__main__":
    sys.exit(main())
