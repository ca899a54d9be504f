"""An API server alone, asked by its administrator."""

import json

import pytest

from kubesim.access import AUTHENTICATED, MASTERS, Authenticator, Principal
from kubesim.audit_log import AuditLog
from kubesim.bare import BareWorld, bare_api
from kubesim.discovery.catalogue import catalogue
from kubesim.handling.request import Request
from kubesim.server import KubernetesApi
from kubesim.store import Ids, Store

NOW = "2026-01-05T09:00:00.000000Z"
USERS = {"admin": Principal("root", "u-1", (MASTERS, AUTHENTICATED)), "other": Principal("other", "", (AUTHENTICATED,))}


class Asked:
    """A server and the one who asks it, with bodies as they come over a network."""

    def __init__(self, api, log):
        self.api = api
        self.log = log

    def send(self, method, target, body=None, content_type="application/json", token="admin", **headers):
        path, _, query = target.partition("?")
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        named |= {"authorization": f"Bearer {token}", "content-type": content_type, "user-agent": "test/1"}
        return self.api.handle(Request.from_network(method, path, query, named, content, "10.0.0.9"))

    def events(self):
        return self.log.events()


@pytest.fixture
def bare():
    log = AuditLog()
    return Asked(bare_api(USERS, log, lambda: NOW), log)


@pytest.fixture
def server():
    """A server of a release, with one namespace."""

    def build(minor):
        log = AuditLog()
        api = KubernetesApi(
            Store(Ids(3)), Authenticator(USERS), log, BareWorld(lambda: NOW), catalogue=catalogue(minor)
        )
        asked = Asked(api, log)
        asked.send("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
        return asked

    return build
