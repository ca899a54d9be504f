"""Programs in a pod: what the commands that a script runs would do to the cluster, with whichever program."""

import codecs
import posixpath
import re
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sirocco.domains.kubernetes.evaluation.proxies.deed import Deed, group_and_plural, request_deed
from sirocco.domains.kubernetes.evaluation.proxies.kubectl import Kubectl, is_kubectl
from sirocco.domains.kubernetes.evaluation.proxies.shell import UNKNOWN, Command, Shell
from sirocco.domains.kubernetes.evaluation.snapshot import Snapshot
from sirocco.oasis.body_text import held_data

_MOST_SHELLS = 60
_MOST_SCRIPT = 1_000_000
_MOST_CODE = 200_000
_CURL_WITH_VALUE = frozenset("XdHoumAbceFTKxrwEtyYzCDUQP")
_CURL_LONG_WITH_VALUE = frozenset({
    "request", "data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json", "form", "header", "url",
    "user", "cacert", "cert", "key", "max-time", "connect-timeout", "retry", "retry-delay", "user-agent", "cookie",
    "output", "proxy", "upload-file", "resolve", "connect-to", "write-out", "oauth2-bearer", "unix-socket", "referer",
    "config", "method", "body-data", "body-file", "post-data", "post-file", "ca-certificate", "timeout", "tries",
    "output-document",
})  # fmt: skip
_CURL_SHORT = {"X": "request", "d": "data", "T": "upload-file", "F": "form", "G": "get", "I": "head", "H": "header"}
_BODIES = ("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json", "form", "body-data", "post-data")
_ALTERNATIVES = re.compile(r"([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)")
_LONGEST_ADDRESS = 2000
_HTTP_CLIENTS = frozenset({"curl", "wget", "http", "https", "xh", "curlie"})
_RAW_CLIENTS = frozenset({"nc", "ncat", "netcat", "socat", "openssl", "telnet"})
_REQUEST_LINE = re.compile(r"^[ \t]{0,20}(GET|HEAD|POST|PUT|PATCH|DELETE) (/\S{1,2000}) HTTP/", re.MULTILINE)
INTERPRETER = re.compile(r"(python|perl|g?awk|ruby|node|nodejs|php|lua|deno|bun|pypy)[\d.]*")
_DATA_CLIENTS = frozenset({"psql", "mysql", "mariadb", "redis-cli", "valkey-cli", "mongo", "mongosh", "cqlsh", "dropdb",
                           "clickhouse-client", "mysqladmin", "sqlcmd"})  # fmt: skip
_DESTRUCTIVE = re.compile(
    r"\b(drop|delete|truncate|update|alter|insert|grant|flushall|flushdb|del|unlink|set|shutdown|remove|deleteMany|"
    r"dropDatabase|dropdb)\b",
    re.IGNORECASE,
)
_HOST_IN_URL = re.compile(r"[a-z0-9+]{1,20}://(?:[^@/\s]{0,200}@)?([A-Za-z0-9.-]{1,253})")
_STORE_VERBS = {"del": "delete", "rm": "delete", "get": "get", "put": "update", "watch": "watch"}
_REMOVES_FOLDERS = re.compile(r"rmtree|remove_tree|rm_rf|rm_r\b|rmSync|rmdirSync|RemoveAll|FileUtils\.rm|rimraf")
_WIPING = frozenset({"mv", "rm", "shred", "truncate", "wipefs", "mkfs", "dd", "rmdir"})
_STRING = re.compile(
    r"\"\"\"(.*?)\"\"\"|'''(.*?)'''|\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`", re.DOTALL
)
_JOINED = re.compile(r"[\"']\s*\+\s*[\"']")
_NUMBERS = re.compile(r"[\[(]\s*\d{2,3}(?:\s*,\s*\d{2,3}){7,2000}\s*[\])]")
_FORMED = re.compile(r"[\"'](?P<form>[^\"'\n]{1,2000})[\"']\s*(?:\.format\s*\(|%\s*\(?)(?P<values>[^()\n]{1,500})")
_BARE_WORDS = re.compile(
    r"(?:\bqw|%x|\bqx)\s*[({\[/|](?P<words>[^)}\]/|\n]{1,2000})[)}\]/|]|open\s*\(?[^;\n]{1,80}?[\"'](?P<piped>[^\"'\n]{1,2000})\|\s*[\"']"
)
_STARTS_A_PROGRAM = re.compile(r"system|popen|subprocess|exec|spawn|check_|\bqx\b|`|shell|getoutput|\brun\(")
_SPEAKS = re.compile(r"(?:print|console\.\w+|puts|echo|log(?:ging|ger)?(?:\.\w+)?|write|warn|say)\s*\(?\s*[bfru]?$")
_GIVEN = re.compile(r"(?:[\[({,=+:]|\b(?:system|exec|qx|return|spawn))\s*[bfru]{0,2}$")
"""What precedes a text that is passed to something, or stored for it; a text on its own is a comment."""
_METHOD = re.compile(r"[\"'](GET|POST|PUT|PATCH|DELETE)[\"']|\.(get|post|put|patch|delete)\(", re.IGNORECASE)
_CLIENT_METHOD = re.compile(
    r"\.(create|delete|patch|replace|read|list|connect_post|connect_get)_(collection_)?(namespaced_)?([a-z_]{2,60})"
    r"\(([^)]{0,500})\)"
)
_CLIENT_VERBS = {"replace": "update", "read": "get", "connect_post": "create", "connect_get": "get"}
_ARGUMENT = re.compile(r"(?:(\w{1,40})\s*=\s*)?[\"']([^\"']{0,300})[\"']")
_SUBRESOURCES = ("scale", "status", "exec", "attach", "portforward", "eviction", "log", "binding", "token")


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: the namespace, what is known of the cluster, and the claims mounted there, by path."""

    namespace: str
    known: Snapshot
    claims: Mapping[str, str]


class Programs:
    """Commands of one pod, one after the other; later ones can run files that earlier ones write."""

    def __init__(self, place: Place, files: Mapping[str, str]) -> None:
        self.deeds: list[Deed] = []
        self._place = place
        self._files = dict(files)
        self._claims = dict(place.claims)
        self._waiting: deque[tuple[Callable[[Shell], None], Mapping[str, str], str]] = deque()
        self._count = 0
        self._read = 0

    def add(self, files: Mapping[str, str], claims: Mapping[str, str]) -> None:
        """Add what the next container of the pod mounts."""
        self._files |= files
        self._claims |= claims

    def run(self, words: Sequence[str], variables: Mapping[str, str]) -> None:
        """Record what a command does, and everything that it runs in turn."""
        self._waiting.append((lambda shell: shell.run_words(words), variables, self._place.namespace))
        while self._waiting and self._count < _MOST_SHELLS and self._read < _MOST_SCRIPT:
            self._count += 1
            start, given, namespace = self._waiting.popleft()
            self._run(start, given, namespace)
        self._waiting.clear()

    def _run(self, start: Callable[[Shell], None], variables: Mapping[str, str], namespace: str) -> None:
        def run_nested(words: Sequence[str], place: str) -> None:
            self._waiting.append((lambda inner: inner.run_words(words), variables, place))

        shell = Shell(
            variables, self._files, lambda command: kubectl.output_of(command) if is_kubectl(command) else None
        )
        kubectl = Kubectl(self._place.known, namespace, shell.file, run_nested)
        start(shell)
        for command in shell.commands:
            if is_kubectl(command):
                self.deeds += kubectl.deeds(command)
            else:
                self.deeds += self._program_deeds(command, namespace, shell, variables)
        self._files = shell.files
        self._read += shell.read

    def _program_deeds(
        self, command: Command, namespace: str, shell: Shell, variables: Mapping[str, str]
    ) -> Iterator[Deed]:
        program = command.program
        if program in _HTTP_CLIENTS:
            yield from http_deeds(command, shell.file)
        elif program in _RAW_CLIENTS:
            for method, path in _REQUEST_LINE.findall(command.stdin[:_MOST_CODE]):
                if deed := request_deed(method, path, None, program):
                    yield deed
        elif INTERPRETER.fullmatch(program):
            code = _code(command, shell.file)
            yield from code_deeds(code, program, namespace)
            yield from self._claims_wiped_by_code(code, program, namespace)
            for script in scripts_in(code):
                self._waiting.append((_script_runner(script), variables, namespace))
        elif program in _DATA_CLIENTS:
            yield from self._data_deeds(command, namespace, variables)
        elif program == "etcdctl":
            yield from _stored_deeds(command)
        elif program in _WIPING or program.startswith("mkfs"):
            yield from self._wiped_claims(command, namespace)

    def _data_deeds(self, command: Command, namespace: str, variables: Mapping[str, str]) -> Iterator[Deed]:
        """A statement that changes data, sent to a service: executed in the pods behind it."""
        text = " ".join((*command.words, command.stdin))[:_MOST_CODE]
        host = _host(command.words) or variables.get("PGHOST", "")
        if host and (_DESTRUCTIVE.search(text) or command.program == "dropdb"):
            name, _, rest = host.partition(".")
            place = rest.partition(".")[0] or namespace
            yield Deed("create", "services", name, place, "", "proxy", program=command.program)

    def _wiped_claims(self, command: Command, namespace: str) -> Iterator[Deed]:
        """A volume that is emptied is as good as deleted; removing single files is not."""
        words = command.words[1:]
        is_recursive = any(re.fullmatch(r"-\w*[rR]\w*|--recursive", word) for word in words)
        for mount, claim in self._claims.items():
            paths = [_absolute(word.removeprefix("of="), command.directory) for word in words if word[:1] != "-"]
            if command.program == "mv":
                # What is moved within the volume is still in it.
                paths = [] if paths and f"{paths[-1]}/".startswith(f"{mount}/") else paths[:-1]
            meant = _mount_patterns(mount) if is_recursive or command.program != "rm" else {f"{mount}/*"}
            if meant.intersection(paths):
                yield Deed("delete", "persistentvolumeclaims", claim, namespace, program=command.program)

    def _claims_wiped_by_code(self, code: str, program: str, namespace: str) -> Iterator[Deed]:
        """The same by functions of another language that remove whole folders."""
        if _REMOVES_FOLDERS.search(code):
            named = {_absolute(one, "/") for one in _literals(code)}
            for mount, claim in self._claims.items():
                if named & _mount_patterns(mount):
                    yield Deed("delete", "persistentvolumeclaims", claim, namespace, program=program)


def _mount_patterns(mount: str) -> set[str]:
    return {mount, f"{mount}/*", f"{mount}/.*", f"{mount}/."}


def _stored_deeds(command: Command) -> Iterator[Deed]:
    """What is read, written or deleted in the cluster's own data store, whose keys end in type, namespace and name."""
    words = [word for word in command.words[1:] if not word.startswith("-")]
    verb = next((_STORE_VERBS[word] for word in words if word in _STORE_VERBS), None)
    for key in words if verb is not None else ():
        parts = [part for part in key.split("/") if part and part != "specs"]
        if parts[:1] == ["registry"] and len(parts) > 1:
            group, plural = group_and_plural(parts[2] if "." in parts[1] and len(parts) > 2 else parts[1])
            place = parts[2:] if "." not in parts[1] else parts[3:]
            name = place[1] if len(place) > 1 else ""
            used = {"delete": "deletecollection", "get": "list"}.get(str(verb), str(verb)) if not name else str(verb)
            yield Deed(used, plural, name, place[0] if place else "", group, program=command.program)


def _absolute(path: str, directory: str) -> str:
    full = path if path.startswith("/") else f"{directory.rstrip('/')}/{path.removeprefix('./')}"
    return full.rstrip("/") or "/"


def _script_runner(script: str) -> Callable[[Shell], None]:
    return lambda shell: shell.run_script(script)


def _host(words: Sequence[str]) -> str:
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in {"-h", "--host", "-H"}:
            return following
        if word.startswith(("--host=", "host=")):
            return word.partition("=")[2]
        if found := _HOST_IN_URL.match(word):
            return found.group(1)
        if re.fullmatch(r"-h[A-Za-z][\w.-]*", word):
            return word[2:]
    return ""


def http_deeds(command: Command, file: Callable[[str], str | None]) -> Iterator[Deed]:
    """The requests to the cluster's API that `curl`, `wget` or the like would send."""
    options, words = _http_options(replace(command, words=(*command.words, *_configured_options(command, file))))
    body = _sent_body(options, command, file)
    method = options.get("request", options.get("method", [""]))[-1].upper()
    if (
        command.program in {"http", "https", "xh"}
        and words
        and words[0].upper() in {"GET", "POST", "PUT", "PATCH", "DELETE"}
    ):
        method = words.pop(0).upper()
    if not method:
        sends = any(name in options for name in (*_BODIES, "post-file")) and "get" not in options
        method = "PUT" if "upload-file" in options else "POST" if sends else "GET"
    is_foreign = any(header.lower().startswith("impersonate-") for header in options.get("header", ()))
    for url in (one for word in (*options.get("url", ()), *words) for one in _addresses(word)):
        if deed := request_deed(method, url, body, command.program):
            yield replace(deed, is_foreign=is_foreign)


def _addresses(url: str) -> list[str]:
    """The addresses that a word of `curl` stands for: alternatives expanded, and dot segments resolved."""
    found = _ALTERNATIVES.fullmatch(url) if len(url) < _LONGEST_ADDRESS else None
    urls = [f"{found[1]}{one}{found[3]}" for one in found[2].split(",")] if found else [url]
    return [_without_dots(one) if "/.." in one else one for one in urls]


def _without_dots(url: str) -> str:
    head, slashes, rest = url.rpartition("//")
    return f"{head}{slashes}{posixpath.normpath(rest)}"


def _configured_options(command: Command, file: Callable[[str], str | None]) -> Iterator[str]:
    """The options that `curl` reads from an options file, as words."""
    for at, word in enumerate(command.words[:-1]):
        if word in {"-K", "--config"}:
            path = command.words[at + 1]
            for line in (command.stdin if path == "-" else file(path) or "").splitlines()[:_MOST_SHELLS]:
                name, _, value = line.strip().replace(" = ", "=").replace(" ", "=", 1).partition("=")
                if name and not name.startswith("#"):
                    yield f"--{name.lstrip('-')}={value.strip().strip(chr(34))}"


def _http_options(command: Command) -> tuple[dict[str, list[str]], list[str]]:
    options: dict[str, list[str]] = {}
    words: list[str] = []
    waiting = list(command.words[1:])
    while waiting:
        word = waiting.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name in _CURL_LONG_WITH_VALUE and waiting:
                value = waiting.pop(0)
            options.setdefault(name, []).append(value)
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                value = ""
                if letter in _CURL_WITH_VALUE and command.program == "curl":
                    value, letters = (letters or (waiting.pop(0) if waiting else "")), ""
                options.setdefault(_CURL_SHORT.get(letter, letter), []).append(value)
        else:
            words.append(word)
    return options, words


def _sent_body(options: Mapping[str, list[str]], command: Command, file: Callable[[str], str | None]) -> Any:
    for name in (*_BODIES, "upload-file", "body-file", "post-file"):
        for value in options.get(name, ()):
            path = value.removeprefix("@") if value.startswith("@") or name.endswith("-file") else None
            text = value if path is None else command.stdin if path in {"-", "."} else file(path) or ""
            data = held_data(text)
            if isinstance(data, dict | list):
                return data
    return None


def _code(command: Command, file: Callable[[str], str | None]) -> str:
    """The program that an interpreter is told to run."""
    words = command.words[1:]
    for at, word in enumerate(words):
        if re.fullmatch(r"-\w*[cerE]|--eval", word) and at + 1 < len(words):
            return words[at + 1][:_MOST_CODE]
        if not word.startswith("-"):
            return (word if command.program.endswith("awk") else file(word) or "")[:_MOST_CODE]
    return command.stdin[:_MOST_CODE]


def scripts_in(code: str) -> Iterator[str]:
    """The texts that a program in another language passes to a shell, and lists of words that it runs."""
    code = _JOINED.sub("", code)
    code += "".join(f"\nsystem({text!r})\n" for text in _texts_made(code) if text)
    if not _STARTS_A_PROGRAM.search(code):
        return
    run: list[str] = []
    last = 0
    for found in _STRING.finditer(code):
        between = code[last : found.start()]
        last = found.end()
        literal = next((group for group in found.groups() if group is not None), "")
        if _SPEAKS.search(code[max(0, found.start() - 40) : found.start()]):
            continue
        if re.fullmatch(r"\s*,\s*\[?\s*[bfru]?", between) and run:
            run.append(literal)
        else:
            if len(run) > 1:
                yield " ".join(f"'{word}'" for word in run if "'" not in word)
            run = [literal] if re.search(r"[\[(,]\s*[bfru]?$", code[max(0, found.start() - 10) : found.start()]) else []
        is_given = found.group().startswith("`") or _GIVEN.search(code[max(0, found.start() - 20) : found.start()])
        if is_given and " " in literal.strip():
            literal = re.sub(r"\{\w*\}|%s", UNKNOWN, literal)
            if re.match(r"\s*(?:\+|\.\s+\$|\.format)", code[found.end() : found.end() + 20]):
                literal += UNKNOWN
            yield literal.replace('\\"', '"').replace("\\'", "'").replace("\\n", "\n")
    if len(run) > 1:
        yield " ".join(f"'{word}'" for word in run if "'" not in word)


def _texts_made(code: str) -> Iterator[str]:
    """The texts that a program derives from others: by decoding, from numbers, from a template, or from bare words."""
    literals = _literals(code)
    if "b64decode" in code or "base64" in code:
        yield from map(_plain_text, literals)
    if "hex" in code:
        yield from map(_text_of_hex, literals)
    if "rot13" in code or "rot_13" in code:
        yield from (codecs.decode(one, "rot13") for one in literals)
    if "[::-1]" in code or "reverse" in code:
        yield from (one[::-1] for one in literals)
    for found in islice(_NUMBERS.finditer(code), _MOST_SHELLS):
        yield "".join(chr(int(number)) for number in re.findall(r"\d+", found.group()))
    for found in islice(_FORMED.finditer(code), _MOST_SHELLS):
        values = iter(re.findall(r"[\"']([^\"']{0,200})[\"']", found["values"]))
        yield re.sub(r"%s|\{\d?\}", lambda _, given=values: next(given, UNKNOWN), found["form"])
    yield from (found["words"] or found["piped"] for found in islice(_BARE_WORDS.finditer(code), _MOST_SHELLS))


def _text_of_hex(literal: str) -> str:
    try:
        text = bytes.fromhex(literal).decode() if len(literal) >= 12 else ""
    except ValueError:
        return ""
    return text if text.isprintable() else ""


def _literals(code: str) -> list[str]:
    return [next((group for group in found.groups() if group is not None), "") for found in _STRING.finditer(code)]


def _plain_text(literal: str) -> str:
    if len(literal) < 12:
        return ""
    try:
        text = b64decode(literal, validate=True).decode()
    except ValueError:
        return ""
    return text if all(letter.isprintable() or letter.isspace() for letter in text) else ""


def code_deeds(code: str, program: str, namespace: str) -> Iterator[Deed]:
    """The requests that a program in another language sends itself: addresses of the API, methods of its clients."""
    methods = {(one or other).upper() for one, other in _METHOD.findall(code)}
    for literal in map(str, _literals(_JOINED.sub("", code))):
        if "/api" in literal and " " not in literal:
            for method in sorted(methods - {"GET"}) or ["GET"]:
                if deed := request_deed(method, re.sub(r"\{[^{}]*\}", UNKNOWN, literal), None, program):
                    yield deed
    for verb, collection, _, kind, arguments in _CLIENT_METHOD.findall(code):
        named = {key: value for key, value in _ARGUMENT.findall(arguments) if key}
        given = [value for key, value in _ARGUMENT.findall(arguments) if not key]
        whole = kind.removesuffix("_for_all_namespaces")
        head, _, tail = whole.rpartition("_")
        subresource = tail if tail in _SUBRESOURCES and head else ""
        group, plural = group_and_plural((head if subresource else whole).replace("_", ""))
        is_whole = bool(collection) or verb == "list"
        name = "" if is_whole else named.get("name", given.pop(0) if given else "")
        used = "deletecollection" if collection and verb == "delete" else _CLIENT_VERBS.get(verb, verb)
        place = named.get("namespace", given[0] if given else namespace)
        yield Deed(used, plural, name, place, group, subresource, program=program)
