"""Several environments on one server, and bytes to and from it without any client's help."""

import asyncio
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass

from clients.conftest import STATE, preconditions
from sirocco.domains.kubernetes.serving import ServedSimulator
from sirocco.oasis.observation import ObservationType
from sirocco.oasis.provider import ProvisionRequest
from sirocco.wiring.clock import utc_now
from sirocco.wiring.profile_source import BUNDLED, required_profile

BODY_TIMEOUT = 0.3
PATIENCE = 20


@dataclass(frozen=True)
class Answer:
    """One HTTP answer as it came."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)


@dataclass(frozen=True)
class House:
    """One of the environments that a server carries."""

    access: object
    environment: object
    loop: object

    @property
    def prefix(self):
        return urllib.parse.urlsplit(self.access.served.server).path

    @property
    def address(self):
        parts = urllib.parse.urlsplit(self.access.served.server)
        return parts.hostname, parts.port

    def context(self):
        return ssl.create_default_context(cadata=self.access.served.authority)

    def connection(self):
        return http.client.HTTPSConnection(*self.address, context=self.context(), timeout=PATIENCE)

    def socket(self):
        host, port = self.address
        plain = socket.create_connection((host, port), timeout=PATIENCE)
        return self.context().wrap_socket(plain, server_hostname=host)

    def ask(self, method, path, body=None, *, token=None, headers=None, prefix=None, content_type="application/json"):
        """One request on a connection of its own; the path is sent as it is given."""
        connection = self.connection()
        content = json.dumps(body).encode() if isinstance(body, dict | list) else body
        sent = {
            "Authorization": f"Bearer {token or self.access.token}",
            "Content-Type": content_type,
            **(headers or {}),
        }
        # http.client refuses odd paths; the server's answer to them is the point.
        connection._validate_path = lambda _: None
        try:
            connection.request(method, (self.prefix if prefix is None else prefix) + path, content, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def exchange(self, content, *, more=()):
        """Everything that comes back for these bytes until the server closes; further bytes follow one at a time."""
        with self.socket() as wire:
            wire.sendall(content)
            for piece in more:
                time.sleep(0.05)
                try:
                    wire.sendall(piece)
                except OSError:
                    break
            received = b""
            while True:
                try:
                    part = wire.recv(65536)
                except OSError:
                    return received
                if not part:
                    return received
                received += part

    def head(self, line, *headers, token=None):
        """A request line and headers for `exchange`; `{}` in the line is the prefix."""
        lines = [line.replace("{}", self.prefix), "Host: api", f"Authorization: Bearer {token or self.access.token}"]
        return "\r\n".join([*lines, *headers, "", ""]).encode("utf-8", "surrogateescape")

    def audit(self):
        observed = asyncio.run_coroutine_threadsafe(self.environment.observe(ObservationType.AUDIT_LOG), self.loop)
        return observed.result(PATIENCE).data["entries"]

    def tasks(self):
        """How many tasks the server's loop has."""

        async def count():
            return len(asyncio.all_tasks()) - 1

        return asyncio.run_coroutine_threadsafe(count(), self.loop).result(PATIENCE)


class Street(threading.Thread):
    """Carries environments side by side on one server, in an event loop of its own."""

    def __init__(self, *seeds, state=STATE, mode="autonomous", body_timeout=BODY_TIMEOUT):
        super().__init__(daemon=True)
        self._requests = [ProvisionRequest(preconditions(state, mode), 1, seed) for seed in seeds]
        self._body_timeout = body_timeout
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._done = asyncio.Event()
        self._problem = None
        self.houses = []

    def run(self):
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as problem:  # noqa: BLE001 - handed to the test
            self._problem = problem
            self._ready.set()

    async def _serve(self):
        profile, _ = required_profile(BUNDLED)
        versions = {profile.document.id: profile.document.version}
        provider = ServedSimulator(versions, utc_now, listen="127.0.0.1:0", body_timeout=self._body_timeout)
        async with provider.open():
            await self._live(provider, self._requests)

    async def _live(self, provider, requests):
        if not requests:
            self._ready.set()
            await self._done.wait()
            return
        async with provider.provision(requests[0]) as environment:
            self.houses.append(House(environment.access, environment, self._loop))
            await self._live(provider, requests[1:])

    def __enter__(self):
        self.start()
        self._ready.wait(30)
        if self._problem:
            raise self._problem
        return self.houses

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._done.set)
        self.join(30)
        self._loop.close()


def status_of(received):
    """The status code of the first answer in some bytes."""
    return int(received.split(b" ", 2)[1])


def eventually(holds):
    """Wait for something that other threads bring about."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if holds():
            return True
        time.sleep(0.02)
    return False
