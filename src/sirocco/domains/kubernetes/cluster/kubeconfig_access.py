"""A user's kubeconfig: where a cluster is, how its identity is verified, and how its owner authenticates."""

import base64
import binascii
import ipaddress
import json
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from sirocco.errors import ConfigError
from sirocco.providers.http.connection import Origin

_FLAG = "--kubeconfig"
_PLUGIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class OwnerAccess:
    """The access of a cluster's owner."""

    context: str
    server: str
    authority: str
    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    verify: bool = True
    server_name: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        host = urlsplit(self.server).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def origin(self, *, as_owner: bool) -> Origin:
        """The server; only `as_owner` does the connection identify the caller by a certificate."""
        return Origin.from_url(self.server, tls=self._tls(as_owner=as_owner), server_name=self.server_name)

    def _tls(self, *, as_owner: bool) -> ssl.SSLContext | None:
        if not self.server.startswith("https"):
            return None
        try:
            context = ssl.create_default_context(cadata=self.authority or None)
            if as_owner and self.certificate:
                # The library reads certificate chains only from files.
                with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
                    pair.write(f"{self.certificate}\n{self.key}\n")
                    pair.flush()
                    context.load_cert_chain(pair.name)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(_FLAG, "a certificate in it cannot be read", "check the file with kubectl") from error
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def read_kubeconfig(path: Path, context: str) -> OwnerAccess:
    """The access that a context of a kubeconfig describes; ConfigError when there is none."""
    try:
        document = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(_FLAG, f"{path} cannot be read: {error}", "name a kubeconfig") from error
    if not isinstance(document, Mapping):
        raise ConfigError(_FLAG, f"{path} is not a kubeconfig", "name a kubeconfig")
    names = [str(item.get("name")) for item in _items(document, "contexts")]
    if context not in names:
        raise ConfigError("--context", f"{path} has no context {context!r}", f"choose one of {', '.join(names)}")
    chosen = _named(document, "contexts", "context", context)
    cluster = _named(document, "clusters", "cluster", chosen.get("cluster"))
    user = {**_named(document, "users", "user", chosen.get("user"))}
    if not cluster.get("server"):
        raise ConfigError(_FLAG, f"context {context!r} names no server", "check the file with kubectl")
    if urlsplit(str(cluster["server"])).path.strip("/"):
        problem = f"the server of context {context!r} has a path, which agents cannot use"
        raise ConfigError(_FLAG, problem, "use a context that reaches the server itself")
    if isinstance(user.get("exec"), Mapping):
        user |= _plugin_credentials(user["exec"])
    folder = path.parent
    access = OwnerAccess(
        context, str(cluster["server"]).rstrip("/"), _text_of(cluster, "certificate-authority", folder),
        str(user.get("token") or _file(user.get("tokenFile"), folder)).strip(),
        _text_of(user, "client-certificate", folder), _text_of(user, "client-key", folder),
        cluster.get("insecure-skip-tls-verify") is not True, str(cluster.get("tls-server-name") or ""),
    )  # fmt: skip
    if not access.token and not access.certificate:
        problem = f"context {context!r} has neither a token nor a certificate"
        raise ConfigError(_FLAG, problem, "use one whose user has a token, a client certificate or an exec plugin")
    return access


def _plugin_credentials(plugin: Mapping[str, Any]) -> Mapping[str, str]:
    """The credentials for its user from the program that a kubeconfig names for that (client.authentication.k8s.io)."""
    command = [str(plugin.get("command")), *map(str, plugin.get("args") or ())]
    request = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
    given = {str(item.get("name")): str(item.get("value")) for item in plugin.get("env") or ()}
    try:
        done = subprocess.run(  # noqa: S603 - the user's own file names it
            ["/usr/bin/env", *(f"{name}={value}" for name, value in given.items()),
             f"KUBERNETES_EXEC_INFO={json.dumps(request)}", *command],
            capture_output=True, check=True, timeout=_PLUGIN_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(_FLAG, f"{command[0]!r} gives no credentials: {error}", "try it with kubectl") from error
    return {
        "token": str(status.get("token") or ""),
        "client-certificate-data": _encoded(status.get("clientCertificateData")),
        "client-key-data": _encoded(status.get("clientKeyData")),
    }


def _encoded(text: Any) -> str:
    return base64.b64encode(str(text or "").encode()).decode()


def _text_of(entry: Mapping[str, Any], key: str, folder: Path) -> str:
    """The content for a key, in the file itself or in another one."""
    if data := entry.get(f"{key}-data"):
        try:
            return base64.b64decode(data, validate=True).decode("ascii")
        except (binascii.Error, ValueError, TypeError) as error:
            raise ConfigError(_FLAG, f"{key}-data cannot be read", "check the file with kubectl") from error
    return _file(entry.get(key), folder)


def _file(name: Any, folder: Path) -> str:
    if not name:
        return ""
    try:
        return (folder / str(name)).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(_FLAG, f"{name} cannot be read: {error}", "check the file with kubectl") from error


def _items(document: Mapping[str, Any], plural: str) -> list[Mapping[str, Any]]:
    listed = document.get(plural)
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []


def _named(document: Mapping[str, Any], plural: str, key: str, name: Any) -> Mapping[str, Any]:
    value = next((item.get(key) for item in _items(document, plural) if item.get("name") == name), None)
    return value if isinstance(value, Mapping) else {}
