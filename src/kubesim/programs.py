"""Programs in containers: what the usual ones print, how long they take, and how the process of a container ends."""

import base64
import io
import math
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubesim.connections import Address, Outcome, attempt
from kubesim.shell import Program, Situation, Step, UnreadableScriptError, outcome, run_script
from kubesim.status import Json
from kubesim.store import Store
from kubesim.surroundings import Execution

_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_TAR_CREATES, _TAR_EXTRACTS = re.compile("-?[hv]*c[hv]*f"), re.compile("-?[mv]*x[mv]*f")
_SCRIPT_FLAG = re.compile(r"-[a-z]*c")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_REFERENCE = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_USUAL_SECONDS = 18.0
"""How long an unknown program takes."""
_PROMPTLY = 1.0
"""The least time that a container lives, so that its start and its end are noticed separately."""
_ENDING_IMAGES = re.compile(r"(?:.*/)?(?:busybox|alpine|debian|ubuntu|bash|hello-world|fedora|centos)(?:[:@].*)?")
"""Images whose default command ends at once: a shell without input, or another short program."""
_HOSTS = (
    "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::\tip6-localnet\nfe00::\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n"
)
_DOMAINS, _RESOLVER = "svc.cluster.local svc.cluster.local cluster.local", "10.96.0.10"
_WITH_VALUE = frozenset({
    "-m", "--max-time", "--connect-timeout", "-o", "-H", "-X", "-w", "-T", "-O", "-d", "--header", "-t", "--timeout",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Process:
    """The main process of a container: what it writes and when, counted from its start, and how it ends."""

    seconds: float
    exit_code: int = 0
    lines: tuple[tuple[float, str], ...] | None = ()
    """None if its output is unknown."""


def execute_command(store: Store, pod: Json, container: str, command: Sequence[str], stdin: str = "") -> Execution:
    """What a few well-known commands print in a container; any other program is not installed there."""
    if not command:
        return Execution()
    spec = _container(pod, container)
    situation = Situation(_variables(store, pod, spec), _files(store, pod, spec))
    return outcome(_Container(store, pod, _not_installed).run(command, situation, stdin))


def main_process(store: Store, pod: Json, name: str, stdin: str | None = None) -> Process | None:
    """The course of a container's process; None for one that runs for as long as its pod exists.

    `stdin` is its input, None until somebody has attached to it.
    """
    spec = _container(pod, name)
    variables = _variables(store, pod, spec)
    command = [
        _expand_references(word, variables) for word in (*(spec.get("command") or ()), *(spec.get("args") or ()))
    ]
    if not command:
        if not _ENDING_IMAGES.fullmatch(str(spec.get("image", ""))):
            return None
        command = ["sh"]
    if spec.get("stdin") and stdin is None and reads_input(command):
        return None
    situation = Situation(variables, _files(store, pod, spec))
    try:
        steps = _Container(store, pod, _somehow_done).run(command, situation, stdin or "", strict=True)
    except UnreadableScriptError:
        return Process(_USUAL_SECONDS, lines=None)
    return _process(steps)


def reads_input(command: Sequence[str]) -> bool:
    """Whether a command waits for input."""
    if not command:
        return False
    is_shell = command[0].rpartition("/")[2] in _SHELLS and not any(map(_SCRIPT_FLAG.fullmatch, command[1:]))
    return is_shell or list(command) == ["cat"]


def is_awaiting_input(pod: Json, name: str) -> bool:
    """Whether the process of a container waits for input."""
    spec = _container(pod, name)
    command = [*(spec.get("command") or ()), *(spec.get("args") or ())]
    is_shell = not command and _ENDING_IMAGES.fullmatch(str(spec.get("image", ""))) is not None
    return bool(spec.get("stdin")) and (is_shell or reads_input(command))


def _process(steps: Sequence[Step]) -> Process | None:
    lines: list[tuple[float, str]] = []
    since, is_known = 0.0, False
    for step in steps:
        text = step.execution.stdout + step.execution.stderr
        is_known |= step.seconds != _USUAL_SECONDS
        since += step.seconds
        lines += [(since, line) for line in text.splitlines()]
    if math.isinf(since):
        return None
    code = steps[-1].execution.exit_code if steps else 0
    return Process(max(since, _PROMPTLY), code, tuple(lines) if lines or is_known else None)


class _Container:
    """Runs commands in one container; `missing` is the result of an unknown program."""

    def __init__(self, store: Store, pod: Json, missing: Callable[[str], Step]) -> None:
        self._store, self._pod, self._missing = store, pod, missing

    def run(self, command: Sequence[str], situation: Situation, stdin: str = "", *, strict: bool = False) -> list[Step]:
        """The steps of a command, which may be a script for a shell; `strict` makes an unreadable script an error."""
        script = _script(command, stdin)
        if script is None:
            return [self._program(is_shell=False)(command, situation, stdin)]
        try:
            return run_script(script, situation, self._program(is_shell=True), stdin)
        except UnreadableScriptError as error:
            if strict:
                raise
            return [Step(Execution(stderr=f"sh: syntax error near {(str(error).split() or [''])[0]!r}\n", exit_code=2))]

    def _program(self, *, is_shell: bool) -> Program:
        def program(words: Sequence[str], situation: Situation, stdin: str) -> Step:
            if is_shell and _script(words, stdin) is not None:
                steps = self.run(words, situation, stdin)
                return Step(outcome(steps), sum(step.seconds for step in steps))
            return self._run_known(list(words), situation, stdin) or self._missing(words[0])

        return program

    def _run_known(self, words: list[str], situation: Situation, stdin: str) -> Step | None:
        """The result of a well-known program; None for every other."""
        if "/" in words[0] and words[0].rpartition("/")[0] in {"/bin", "/usr/bin", "/usr/local/bin"}:
            words = [words[0].rpartition("/")[2], *words[1:]]
        match words:
            case ["sleep", *times]:
                return _slept(times)
            case ["tail", "-f" | "-F", *_]:
                return Step(Execution(), math.inf)
            case ["curl" | "wget" | "nc" as program, *rest]:
                return Step(_try_connection(self._store, self._pod, program, rest))
            case ["hostname"]:
                return Step(Execution(f"{self._pod['metadata']['name']}\n"))
        execution = _text_program(words, situation, stdin)
        return None if execution is None else Step(execution)


def _text_program(words: list[str], situation: Situation, stdin: str) -> Execution | None:
    """The output of programs that only look at variables, files and their input."""
    variables, files = situation.variables, situation.files
    match words:
        case ["env"] | ["printenv"]:
            return Execution("".join(f"{name}={value}\n" for name, value in variables.items()))
        case ["printenv", name]:
            return Execution(f"{variables[name]}\n") if name in variables else Execution(exit_code=1)
        case ["echo", "-n", *rest]:
            return Execution(" ".join(rest))
        case ["echo", "-e", *rest]:
            return Execution(_unescape_text(" ".join(rest)) + "\n")
        case ["echo", *rest]:
            return Execution(" ".join(rest) + "\n")
        case ["printf", form, *rest]:
            return Execution(_printf_text(form, rest))
        case ["cat"] | ["cat", "-"]:
            return Execution(stdin)
        case ["cat", *paths]:
            return _run_cat(paths, files)
        case ["tar", flags, "-", *paths] if _TAR_CREATES.fullmatch(flags):
            return _run_tar(paths, files)
        case ["tar", flags, "-", *rest] if _TAR_EXTRACTS.fullmatch(flags):
            folder = rest[1] if rest[:1] == ["-C"] and len(rest) > 1 else "."
            return Execution(stderr=f"tar: can't write to '{folder}': Read-only file system\n", exit_code=1)
        case ["tar", "--version"]:
            return Execution("tar (GNU tar) 1.34\n")
        case ["tar", *_]:
            said = "tar: This does not look like a tar archive\n"
            return Execution(stderr=f"{said}tar: Exiting with failure status due to previous errors\n", exit_code=2)
        case ["ls", *rest]:
            return _run_ls([word for word in rest if not word.startswith("-")], files)
        case ["test", *rest] | ["[", *rest, "]"]:
            return Execution(exit_code=0 if _holds(rest, files) else 1)
        case ["pwd"]:
            return Execution("/\n")
        case ["whoami"]:
            return Execution("root\n")
        case ["id"]:
            return Execution("uid=0(root) gid=0(root) groups=0(root)\n")
        case ["true", *_]:
            return Execution()
        case ["false", *_]:
            return Execution(exit_code=1)
    return None


def _not_installed(name: str) -> Step:
    """The container runtime's words for a program that is not there."""
    return Step(Execution(stderr=f'exec: "{name}": executable file not found in $PATH\n', exit_code=127))


def _somehow_done(name: str) -> Step:
    """A program of an image whose content is unknown: it does its work and prints nothing."""
    del name
    return Step(Execution(), _USUAL_SECONDS)


def _script(command: Sequence[str], stdin: str) -> str | None:
    """The script that a shell is to run, from its argument or its input; None when the command is not a shell."""
    if not command or command[0].rpartition("/")[2] not in _SHELLS:
        return None
    for place, word in enumerate(command[1:], 1):
        if _SCRIPT_FLAG.fullmatch(word):
            script = command[place + 1] if place + 1 < len(command) else ""
            return f"set -e\n{script}" if "e" in word else script
        if not word.startswith("-"):
            return None
    return stdin


def _slept(times: Sequence[str]) -> Step:
    found = [_DURATION.fullmatch(time) for time in times]
    if "infinity" in times or "inf" in times:
        return Step(Execution(), math.inf)
    if not times or not all(found):
        return Step(Execution(stderr=f"sleep: invalid time interval '{' '.join(times)}'\n", exit_code=1))
    return Step(Execution(), sum(float(match[1]) * _SECONDS[match[2]] for match in found if match))


def _holds(words: Sequence[str], files: Mapping[str, str]) -> bool:
    match words:
        case ["!", *rest]:
            return not _holds(rest, files)
        case ["-n", text] | [text]:
            return bool(text)
        case ["-z", text]:
            return not text
        case ["-f" | "-e" | "-s" | "-r", path]:
            return path in files
        case ["-d", path]:
            return any(name.startswith(f"{path.rstrip('/')}/") for name in files)
        case [left, "=" | "==" | "-eq", right]:
            return left == right
        case [left, "!=" | "-ne", right]:
            return left != right
    return False


def _printf_text(form: str, words: Sequence[str]) -> str:
    rest = list(words)
    return re.sub(r"%[sd]", lambda _: rest.pop(0) if rest else "", _unescape_text(form))


def _unescape_text(text: str) -> str:
    return re.sub(r"\\[nt\\]", lambda match: _ESCAPES[match[0]], text)


def _expand_references(word: str, variables: Mapping[str, str]) -> str:
    """A word of a container's command with each `$(NAME)` replaced by that variable of the container, if it exists."""

    def value(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else variables.get(match[1], match[0])

    return _REFERENCE.sub(value, word)


def _container(pod: Json, name: str) -> Json:
    fields = ("containers", "initContainers", "ephemeralContainers")
    items = (item for field in fields for item in pod["spec"].get(field) or ())
    return next((item for item in items if item.get("name") == name), {})


def _try_connection(store: Store, pod: Json, program: str, words: Sequence[str]) -> Execution:
    """The output of the usual programs that try a connection."""
    plain = [word for index, word in enumerate(words)
             if not word.startswith("-") and (index == 0 or words[index - 1] not in _WITH_VALUE)]  # fmt: skip
    if not plain:
        return Execution(stderr=f"{program}: no address given\n", exit_code=2)
    text = f"{plain[0]}:{plain[1]}" if program == "nc" and len(plain) > 1 else plain[0]
    address = Address.from_text(text)
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
        if path := (source.get("fieldRef") or {}).get("fieldPath"):
            value = _field(pod, path)
        found[item.get("name", "")] = value
    return found | {"HOME": "/root"}


def _field(pod: Json, path: str) -> str:
    """A field of the pod that a variable of its containers shows; empty if it has none."""
    found: Any = pod
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _files(store: Store, pod: Json, container: Mapping[str, Any]) -> dict[str, str]:
    """The files of mounted config maps and secrets, by path."""
    namespace = pod["metadata"]["namespace"]
    volumes = {item.get("name"): item for item in pod["spec"].get("volumes") or ()}
    name, address = pod["metadata"]["name"], (pod.get("status") or {}).get("podIP", "")
    files = {
        "/etc/hostname": f"{name}\n",
        "/etc/hosts": f"{_HOSTS}{address}\t{name}\n",
        "/etc/resolv.conf": f"search {namespace}.{_DOMAINS}\nnameserver {_RESOLVER}\noptions ndots:5\n",
    }
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


def _run_cat(paths: Sequence[str], files: Mapping[str, str]) -> Execution:
    missing = [path for path in paths if path not in files]
    text = "".join(files[path] for path in paths if path in files)
    said = "".join(f"cat: can't open '{path}': No such file or directory\n" for path in missing)
    return Execution(text, said, 1 if missing else 0)


def _run_tar(paths: Sequence[str], files: Mapping[str, str]) -> Execution:
    """An archive of files and folders, as `kubectl cp` requests it; names in it have no leading slash."""
    archive, missing = io.BytesIO(), []
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as writer:
        for path in paths:
            found = [name for name in sorted(files) if name == path or name.startswith(f"{path.rstrip('/')}/")]
            missing += [] if found else [path]
            for name in found:
                content = files[name].encode()
                member = tarfile.TarInfo(name.lstrip("/"))
                member.size, member.mode = len(content), 0o644
                writer.addfile(member, io.BytesIO(content))
    said = "".join(f"tar: {path}: Cannot stat: No such file or directory\n" for path in missing)
    failure = "tar: Exiting with failure status due to previous errors\n" if missing else ""
    leading = "tar: Removing leading `/' from member names\n" if any(path.startswith("/") for path in paths) else ""
    # Headers are ASCII and files are text, so the archive is text too.
    return Execution(archive.getvalue().decode(), leading + said + failure, 2 if missing else 0, complains_first=True)


def _run_ls(paths: Sequence[str], files: Mapping[str, str]) -> Execution:
    folder = (paths[0] if paths else "/").rstrip("/") + "/"
    names = {path.removeprefix(folder).partition("/")[0] for path in files if path.startswith(folder)}
    if not names and folder != "/":
        return Execution(stderr=f"ls: {paths[0]}: No such file or directory\n", exit_code=1)
    usual = {"bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr", "var"} if folder == "/" else set()
    return Execution("".join(f"{name}\n" for name in sorted(names | usual)))
