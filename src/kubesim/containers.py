"""What containers say: the lines that they logged, and what a command in one of them prints."""

import base64
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubesim.connections import Address, Outcome, attempt
from kubesim.controllers.dynamics import Dynamics, Health, workload_of
from kubesim.resource import BY_NOUN
from kubesim.status import Json
from kubesim.store import Store, key_of
from kubesim.surroundings import Execution, LogLine

_INTERVAL = 7.0
_USUAL = ('level=info msg="starting"', 'level=info msg="listening" addr=:8080', 'level=info msg="ready"')
_LINES: Mapping[Health, tuple[str, ...]] = {
    Health.DEGRADED: (*_USUAL, 'level=warn msg="request failed" status=503', 'level=warn msg="upstream timed out"'),
    Health.ELEVATED_ERROR_RATE: (
        *_USUAL, 'level=error msg="request failed" status=500', 'level=error msg="request failed" status=500',
    ),
    Health.CRASHLOOPBACKOFF: ('level=info msg="starting"', 'level=fatal msg="cannot start" error="{reason}"'),
    Health.ERROR: ('level=info msg="starting"', 'level=fatal msg="cannot start" error="{reason}"'),
    Health.INIT_FAILING: ('level=fatal msg="initialization failed" error="{reason}"',),
    Health.OOMKILLED: (*_USUAL, 'level=warn msg="heap is near the limit"'),
}  # fmt: skip
_SILENT = frozenset({Health.PENDING, Health.IMAGEPULLBACKOFF})


def log_lines(
    dynamics: Dynamics, pod: Json, container: str, ago: Callable[[float], str], *, previous: bool
) -> Sequence[LogLine]:
    """The declared lines of a pod and its workload; a pod without any says what its health implies."""
    del previous  # a container that was started again said the same before
    keys = list(dict.fromkeys((workload_of(dynamics.store, pod), key_of(BY_NOUN["pod"], pod))))
    lines = [line for key in keys for line in dynamics.container_logs.get((key, container), ())]
    if not lines and not _is_init(pod, container):
        lines = [line for key in keys for line in dynamics.logs.get(key, ())]
    if not lines:
        lines = _implied(dynamics, pod, container)
    count = len(lines)
    return [LogLine(ago((count - index) * _INTERVAL), line) for index, line in enumerate(lines)]


def _is_init(pod: Json, container: str) -> bool:
    return any(item.get("name") == container for item in pod["spec"].get("initContainers") or ())


def _implied(dynamics: Dynamics, pod: Json, container: str) -> list[str]:
    fate = dynamics.fates.get(pod["metadata"]["uid"])
    health = fate.health if fate else Health.RUNNING
    if health in _SILENT or (health is Health.INIT_FAILING and not _is_init(pod, container)):
        return []
    declared = dynamics.declaration(pod)
    if declared.containers and not health.serves:
        health = declared.containers.get(container, Health.RUNNING)
    reason = declared.reason or "configuration is incomplete"
    return [line.format(reason=reason) for line in _LINES.get(health, _USUAL)]


def executed(store: Store, pod: Json, container: str, command: Sequence[str]) -> Execution:
    """What a few well-known commands print in a container; anything else is not installed there."""
    words = _unwrapped(list(command))
    if not words:
        return Execution()
    spec: Json = next((item for item in pod["spec"].get("containers") or () if item.get("name") == container), {})
    variables = _variables(store, pod, spec)
    files = _files(store, pod, spec)
    match words:
        case ["env"] | ["printenv"]:
            return Execution("".join(f"{name}={value}\n" for name, value in variables.items()))
        case ["printenv", name]:
            return Execution(f"{variables[name]}\n") if name in variables else Execution(exit_code=1)
        case ["echo", *rest]:
            return Execution(" ".join(_expanded(word, variables) for word in rest) + "\n")
        case ["cat", *paths]:
            return _concatenated(paths, files)
        case ["ls", *rest]:
            return _listed([word for word in rest if not word.startswith("-")], files)
        case ["curl" | "wget" | "nc" as program, *rest]:
            return _connected(store, pod, program, rest)
        case ["hostname"]:
            return Execution(f"{pod['metadata']['name']}\n")
        case ["whoami"]:
            return Execution("root\n")
        case ["id"]:
            return Execution("uid=0(root) gid=0(root) groups=0(root)\n")
        case ["true"] | ["sh"] | ["bash"] | ["/bin/sh"] | ["/bin/bash"]:
            return Execution()
        case ["false"]:
            return Execution(exit_code=1)
        case _:
            text = f'exec: "{words[0]}": executable file not found in $PATH'
            return Execution(stderr=f"{text}\n", exit_code=127)


def _connected(store: Store, pod: Json, program: str, words: Sequence[str]) -> Execution:
    """What the usual programs print that try a connection."""
    plain = [word for index, word in enumerate(words)
             if not word.startswith("-") and (index == 0 or words[index - 1] not in _WITH_VALUE)]  # fmt: skip
    if not plain:
        return Execution(stderr=f"{program}: no address given\n", exit_code=2)
    text = f"{plain[0]}:{plain[1]}" if program == "nc" and len(plain) > 1 else plain[0]
    address = Address.of(text)
    match attempt(store, pod, address):
        case Outcome.CONNECTED:
            is_open = f"{address.host} ({address.host}:{address.port}) open\n" if program == "nc" else "OK\n"
            return Execution(is_open)
        case Outcome.REFUSED:
            code, why = 7, f"Failed to connect to {address.host} port {address.port}: Connection refused"
        case Outcome.TIMED_OUT:
            code, why = 28, f"Failed to connect to {address.host} port {address.port}: Connection timed out"
        case Outcome.UNKNOWN_HOST:
            code, why = 6, f"Could not resolve host: {address.host}"
    said = f"curl: ({code}) {why}\n" if program == "curl" else f"{program}: {why}\n"
    return Execution(stderr=said, exit_code=code if program == "curl" else 1)


_WITH_VALUE = frozenset({
    "-m", "--max-time", "--connect-timeout", "-o", "-H", "-X", "-w", "-T", "-O", "-d", "--header", "-t", "--timeout",
})  # fmt: skip


def _unwrapped(words: list[str]) -> list[str]:
    """The command inside `sh -c '...'`."""
    if len(words) == 3 and words[0].rpartition("/")[2] in {"sh", "bash"} and words[1] in {"-c", "-lc"}:
        try:
            return shlex.split(words[2])
        except ValueError:
            return words
    return words


def _variables(store: Store, pod: Json, container: Mapping[str, Any]) -> dict[str, str]:
    namespace = pod["metadata"]["namespace"]
    found = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOSTNAME": pod["metadata"]["name"],
    }
    for source in container.get("envFrom") or ():
        for noun, field in (("configmap", "configMapRef"), ("secret", "secretRef")):
            if reference := source.get(field):
                content = _content(store, noun, namespace, reference.get("name", ""))
                found |= {f"{source.get('prefix', '')}{key}": value for key, value in content.items()}
    for item in container.get("env") or ():
        source = item.get("valueFrom") or {}
        value = item.get("value", "")
        for noun, field in (("configmap", "configMapKeyRef"), ("secret", "secretKeyRef")):
            if reference := source.get(field):
                content = _content(store, noun, namespace, reference.get("name", ""))
                value = content.get(reference.get("key", ""), "")
        found[item.get("name", "")] = value
    return found | {"HOME": "/root"}


def _files(store: Store, pod: Json, container: Mapping[str, Any]) -> dict[str, str]:
    """The files of mounted config maps and secrets by their paths."""
    namespace = pod["metadata"]["namespace"]
    volumes = {item.get("name"): item for item in pod["spec"].get("volumes") or ()}
    files = {"/etc/hostname": f"{pod['metadata']['name']}\n"}
    for mount in container.get("volumeMounts") or ():
        volume = volumes.get(mount.get("name")) or {}
        for noun, field, key in (("configmap", "configMap", "name"), ("secret", "secret", "secretName")):
            if source := volume.get(field):
                content = _content(store, noun, namespace, source.get(key, ""))
                files |= {f"{mount.get('mountPath', '').rstrip('/')}/{name}": text for name, text in content.items()}
    return files


def _content(store: Store, noun: str, namespace: str, name: str) -> dict[str, str]:
    found = store.get(noun, namespace, name)
    data = (found or {}).get("data") or {}
    if noun == "configmap":
        return dict(data)
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in data.items()}


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    name = word.removeprefix("$").strip("{}")
    return variables.get(name, "") if word.startswith("$") else word


def _concatenated(paths: Sequence[str], files: Mapping[str, str]) -> Execution:
    missing = [path for path in paths if path not in files]
    text = "".join(files[path] for path in paths if path in files)
    said = "".join(f"cat: can't open '{path}': No such file or directory\n" for path in missing)
    return Execution(text, said, 1 if missing else 0)


def _listed(paths: Sequence[str], files: Mapping[str, str]) -> Execution:
    folder = (paths[0] if paths else "/").rstrip("/") + "/"
    names = {path.removeprefix(folder).partition("/")[0] for path in files if path.startswith(folder)}
    if not names and folder != "/":
        return Execution(stderr=f"ls: {paths[0]}: No such file or directory\n", exit_code=1)
    usual = {"bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr", "var"} if folder == "/" else set()
    return Execution("".join(f"{name}\n" for name in sorted(names | usual)))
