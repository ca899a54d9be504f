"""Replay recorded cases of a real kube-apiserver against the simulator, in process, and say where it differs.

python tests/recorded/replay.py [--current | --cases FOLDER] [--only TEXT] [--max-diffs N] [--quiet]
"""

import json
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from kubesim.audit_log import AuditLog
from kubesim.bare import bare_api, read_users
from kubesim.discovery.catalogue import RECORDED_RELEASE
from kubesim.handling.request import Request
from kubesim.handling.watches import whole_response
from recorded.record import comparer, recorded

RECORDINGS = Path(__file__).parents[1] / "data" / "kube-apiserver"


def comparer_in_process(files, release):
    """The comparer that came with the recordings, made to talk to a server in this process and not to wait."""
    module = comparer()
    server = Server(read_users(RECORDINGS / "users.json"), release)
    # The second client is the one that acts while a watch is open.
    module.Client = lambda base: _client(server.send if base else server.postpone)
    module.threading = SimpleNamespace(Thread=_AtOnce)
    module.Audit = lambda path, url: server
    module.time = SimpleNamespace(sleep=lambda seconds: None, time=lambda: 0.0)
    module.open = lambda path, *arguments, **options: files.enter_context(Path(path).open(*arguments, **options))  # noqa: SIM115
    return module


class Server:
    """One bare API server, and its audit log in the form that the comparer asks for."""

    def __init__(self, users, release):
        self.log = AuditLog()
        self.api = bare_api(users, self.log, _now, release)
        self.later = []
        self.mark = 0

    def send(self, method, target, headers, content):
        """Answer a request; a watch ends when what is to happen during it has happened."""
        path, _, query = target.partition("?")
        named = {key.lower(): value for key, value in headers.items()}
        answer = self.api.handle(Request.from_network(method, path, query, named, content or b"", "127.0.0.1"))
        later, self.later = self.later, []
        for request in later:
            self.send(*request)
        body = whole_response(answer).body
        sent = {key.lower(): value for key, value in answer.headers.items()}
        if body is None or isinstance(body, str):
            return answer.status, sent, (body or "").encode()
        if isinstance(body, bytes):
            return answer.status, sent, body
        lines = body if isinstance(body, list) else [body]
        return answer.status, sent, "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()

    def postpone(self, *request):
        """Keep a request until a watch is open."""
        self.later.append(request)
        return 200, {}, b""

    def start(self):
        self.mark = len(self.log.events())

    def get(self, audit_id):
        return [event for event in self.log.events()[self.mark :] if event["auditID"] == audit_id]


class _AtOnce:
    """A thread that runs its target when it is started."""

    def __init__(self, target, args):
        self.start = lambda: target(*args)

    def join(self):
        """It has ended."""


def _client(send):
    def client(*parts):
        return send(*parts)

    client.u = SimpleNamespace(geturl=str)
    return client


def _now():
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")  # noqa: TID251


def replay(cases=RECORDINGS / "cases", *options, release=RECORDED_RELEASE):
    """Run the comparer over a folder of cases; its exit code."""
    sys.argv = ["compare.py", str(cases), "--base", "in-process", "--users", str(RECORDINGS / "users.json"),
                "--create-namespaces", "--audit-log", "in-process", *map(str, options)]  # fmt: skip
    with ExitStack() as files:  # the comparer leaves them open
        return comparer_in_process(files, release).main()


def unpacked(document, folder):
    """The folder with the cases of a recording in it, one file each."""
    for case in document["cases"]:
        place = folder / case["area"]
        place.mkdir(exist_ok=True)
        (place / f"{case['name']}.json").write_text(json.dumps(case))
    return folder


def release_of(document):
    """The N of Kubernetes 1.N whose server a recording is of."""
    return int(document["version"].split(".")[1])


def main():
    arguments = sys.argv[1:]
    if "--current" in arguments:
        arguments.remove("--current")
        document = recorded()
        with tempfile.TemporaryDirectory() as folder:
            return replay(unpacked(document, Path(folder)), *arguments, release=release_of(document))
    if "--cases" not in arguments:
        return replay(RECORDINGS / "cases", *arguments)
    place = arguments.index("--cases")
    return replay(arguments[place + 1], *arguments[:place], *arguments[place + 2 :])


if __name__ == "__main__":
    sys.exit(main())
