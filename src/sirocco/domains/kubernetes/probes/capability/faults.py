"""Faults: what can be wrong with one workload, as it is declared, as logs put it, and in the words that name it.

A fault keeps a workload from running (`BREAKAGES`), or its log complains of the fault while it runs on (`COMPLAINTS`).
The first words of each list are the ones that can form a sentence; the others are further ways to say the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sirocco.domains.kubernetes.probes.capability.site import Factor, Site, Words
from sirocco.oasis.mutation import Dice
from sirocco.oasis.scenario_draft import Declared

_ABSENT = (
    "missing", "absent", "not set", "not defined", "undefined", "not found", "lacks", "has no", "there is no",
    "does not exist", "doesn't exist", "could not find", "couldn't find", "not in", "without", "no such", "unset",
)  # fmt: skip
_CRASH = "CrashLoopBackOff"


@dataclass(frozen=True, slots=True)
class Complaint:
    """A fault that a log names: the wording of lines, the fact, where it lies, and what it could be mistaken for."""

    lines: Words
    fact: Factor
    part: Words
    kin: Words
    metric: str = "error_rate"
    """The metric that rises because of it."""
    event: str = ""
    """The reason of the event with which the cluster warns of it; empty if the cluster would not notice."""

    def line(self, site: Site, dice: Dice) -> str:
        """One of its wordings."""
        values = {
            "peer": dice.choice(site.business.workloads), "path": f"/var/lib/{dice.choice(site.business.subjects)}",
            "user": dice.choice(site.business.subjects), "table": site.business.subjects_text,
            "many": dice.choice((20, 32, 40, 50, 64, 80, 100)), "days": dice.randint(1, 21),
            "key": f"{dice.choice(site.business.subjects).upper()}_{dice.choice(_KEY_ENDS)}",
            "old": dice.randint(11, 40), "new": dice.randint(41, 60),
        }  # fmt: skip
        return dice.choice(self.lines).format_map(values)


_KEY_ENDS = ("LIMIT", "MODE", "REGION", "TIMEOUT", "FORMAT", "SOURCE", "PROFILE", "WINDOW", "DEPTH", "CURRENCY")

COMPLAINTS: Mapping[str, Complaint] = {
    "certificate": Complaint(
        ("x509: certificate has expired or is not yet valid",
         "TLS handshake with {peer} failed: certificate expired {days} days ago",
         "cannot open store: remote certificate has expired", "mutual TLS refused: client certificate is out of date"),
        (("the certificate", "a TLS certificate", "certificate", "certificates", "cert", "x509"),
         ("expired", "out of date", "no longer valid", "expir*", "run out", "ran out", "lapsed", "not valid")),
        ("TLS", "the certificate", "certificate", "handshake"), ("certificate",),
    ),
    "disk": Complaint(
        ("write {path}/segment-{many}: no space left on device", "cannot extend {path}: no space left on device",
         "flush of {path} aborted: disk full", "append to {path}/journal failed: no space left on device"),
        (("the disk", "the volume", "the device", "disk", "volume", "volumes", "device", "storage", "space"),
         ("full", "out of space", "without room", "no space", "no room", "filled up", "run out of space",
          "ran out of space",
          "not enough space", "nearly full")),
        ("the volume", "volume", "disk", "storage"), ("disk", "quota"), metric="failed_writes",
         event="VolumeAlmostFull",
    ),
    "names": Complaint(
        ("dial {peer}: lookup {peer}: no such host", "cannot resolve host {peer}: name resolution failed",
         "lookup {peer} on the cluster resolver: no such host"),
        (("the host name", "the name of the host", "name resolution", "host name", "host", "DNS", "name"),
         ("unknown", "not resolved", "not known to the resolver", "cannot be resolved", "no such host", "not resolv*",
          "fail*",
          "could not be resolved", "can't be resolved", "unresolv*")),
        ("DNS", "host name", "resolver"), ("DNS",),
    ),
    "access": Complaint(
        ('password authentication failed for user "{user}"', "access denied for {user}: login failed",
         "{peer} answered 403: permission denied for {user}", "permission denied: open {path}/state"),
        (("the login", "the permission", "access", "login", "permission", "permissions", "authentication", "password",
          "credentials"),
         ("refused", "denied", "rejected", "fail*", "not accepted", "wrong", "lacking", "forbidden", "403")),
        ("login", "credentials", "permissions", "access"), ("missing key",),
    ),
    "files": Complaint(
        ("accept tcp: too many open files", "open {path}/part-{many}: too many open files",
         "cannot start another reader: too many open files"),
        (("the limit of open files", "the number of open files", "open files", "file handles", "file descriptors",
          "descriptors", "files"),
         ("reached", "too high", "used up", "exhaust*", "exceed*", "too many", "leak*", "limit")),
        ("files", "file handles", "descriptors"), (),
    ),
    "pool": Complaint(
        ("connection pool exhausted: {many} of {many} connections in use",
         "cannot get a connection from the pool of {many}: timed out",
         "pool {table}: no free connection after 30 s"),
        (("the connection pool", "the pool of connections", "connection pool", "pool", "connections",
         "database connections"),
         ("exhausted", "used up", "at its limit", "exhaust*", "saturat*", "deplet*", "full", "no free", "no available",
          "in use", "ran out", "run out", "maxed out")),
        ("the database", "database", "connection", "connections"), ("connection pool",), metric="queue_length",
    ),
    "locks": Complaint(
        ("deadlock detected while updating {table}", "transaction rolled back: deadlock on {table}",
         "could not obtain lock on {table}: lock wait timeout"),
        (("a lock on the table", "locking", "lock*", "deadlock*", "transactions", "transaction"),
         ("held too long", "in the way", "contended", "deadlock*", "block*", "wait*", "timeout", "timed out",
          "contention")),
        ("the database", "database", "transactions", "table"), ("deadlock",), metric="response_time_ms",
    ),
    "rate": Complaint(
        ("{peer} answered 429 Too Many Requests, next attempt in {many} s",
         "call to {peer} throttled: rate limit of {many} per minute reached",
         "gave up after 3 attempts: {peer} says too many requests"),
        (("the rate of calls", "the number of requests", "calls", "requests", "upstream", "rate"),
         ("limited", "above what the other side takes", "rate limited", "rate limit", "rate-limit*", "limit*", "429",
          "too many requests", "throttl*", "turned away", "reject*")),
        ("upstream", "the other side", "calls", "partner"), ("rate limit*",), metric="queue_length",
    ),
    "setting": Complaint(
        ("invalid value 'auto' for setting {key}", "invalid configuration: {key} must be a whole number",
         "malformed setting {key}: cannot be read as a duration"),
        (("a setting", "the value of a setting", "configuration", "setting", "settings", "value", "{key}"),
         ("invalid", "malformed", "unusable", "wrong", "not valid", "cannot be used", "cannot be read", "bad")),
        ("configuration", "settings", "setting"), ("missing key",),
    ),
    "schema": Complaint(
        ("schema version {old} found, {new} expected: run the migration first",
         "database schema version {old} is older than {new}, refusing to start"),
        (("the database schema", "the schema", "schema", "schema version", "migration", "migrations"),
         ("too old", "outdated", "behind", "older", "not migrated", "missing", "fail*", "has not run", "not been run",
          "mismatch*", "expected")),
        ("database", "schema", "migration"), (),
    ),
    "licence": Complaint(
        ("licence for {user} module expired {days} days ago",
         "licence check failed: subscription {user}-{many} has expired"),
        (("the licence", "the subscription", "licence", "license", "subscription"),
         ("expired", "out of date", "no longer valid", "expir*", "lapsed", "run out", "ran out")),
        ("licence", "subscription"), ("certificate",),
    ),
    "readonly": Complaint(
        ("open {path}/spool: read-only file system", "cannot create {path}/lock: read-only file system"),
        (("the file system", "the volume", "file system", "filesystem", "volume", "disk", "mount"),
         ("read-only", "mounted read-only", "not writable", "read only", "cannot be written", "write-protected")),
        ("the volume", "file system", "storage"), ("disk", "quota"),
    ),
    "checksum": Complaint(
        ("checksum mismatch in {path}/index-{many}, refusing to load it",
         "block {many} of {path} is corrupt: checksum mismatch"),
        (("a data file", "the index", "data", "index", "block", "file", "files", "checksum"),
         ("corrupt", "damaged", "broken", "corrupt*", "mismatch*", "does not match", "inconsistent")),
        ("data", "file", "index"), ("disk",),
    ),
}  # fmt: skip
"""Complaints of a program that runs or tries to."""

ENDURED = ("certificate", "disk", "names", "files", "pool", "locks", "rate", "access", "readonly")
"""Complaints that a program can live with for a while."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a workload: how that is declared, what it is called, and where it shows."""

    entry: Declared
    beside: tuple[Declared, ...]
    cause: Factor
    part: Words
    kin: Words
    reads: Words
    """Operations each of which shows it."""
    symptom: str
    """Its appearance from outside, as a key of what operators report."""

    @property
    def workload(self) -> str:
        """The workload as operations name it."""
        return self.entry.resource

    def looks(self, site: Site) -> list[str]:
        """The reads of somebody who finds it out."""
        shown = (read for read in self.reads if "*" not in read)
        return [site.op("list", "pod/*"), site.op("list", "event/*"), *list(shown)[:1]]


def _seen_from_pods(site: Site, name: str) -> list[str]:
    return [site.op("get", f"deployment/{name}"), site.op("get", "pod/*"), site.op("get", "event/*")]


def missing_image(site: Site, name: str) -> Fault:
    """A tag that the registry does not have."""
    tag = site.version() + site.dice.choice(("", "-rc1", "-hotfix", "-beta.2", "-final"))
    image = site.image(name, tag)
    reason = f"manifest for {image} not found: manifest unknown"
    entry = site.declare(
        "deployment", name, replicas=site.dice.randint(1, 4), status="ImagePullBackOff", image=image, reason=reason
    )
    cause = (
        (f"the image tag {tag}", f"the image {image}", "the image", "image", "images", "tag", tag, "manifest"),
        ("not in the registry", "missing", "unknown to the registry", "not found", "unknown", "does not exist",
         "doesn't exist",
         "no such", "cannot be pulled", "can't be pulled", "could not be pulled", "couldn't be pulled", "never pushed",
         "not be pulled", "unable to pull", "cannot pull", "can't pull", "fails to pull", "ImagePullBackOff",
         "ErrImagePull",
         "not exist", "pull fail*", "absent"),
    )  # fmt: skip
    part = ("the image", "image", "registry", "ImagePullBackOff", "ErrImagePull")
    return Fault(entry, (), cause, part, ("image pull",), _seen_from_pods(site, name), "absent")


def oversized_request(site: Site, name: str) -> Fault:
    """A request for more memory or processor time than any node has left."""
    what, amount = site.dice.choice(
        (("memory", f"{site.dice.randint(80, 400)}Gi"), ("cpu", str(site.dice.randint(40, 160))))
    )
    entry = site.declare(
        "deployment", name, replicas=site.dice.randint(1, 3), status="pending", image=site.image(name, site.version()),
        reason=f"Insufficient {what}", **{f"{what}_request": amount},
    )  # fmt: skip
    cause = (
        (what, f"the request for {amount} of {what}", f"the {what} request", amount, f"{what} request"),
        ("more than any node has free", "too large for the nodes", "beyond what nodes have", "insufficient",
         "not enough",
         "too little", "too large", "too big", "more than", "cannot be scheduled", "can't be scheduled",
         "unschedulable",
         "no node", "not fit", "doesn't fit", "does not fit", "exceeds", "lacks", "short of"),
    )  # fmt: skip
    part = ("scheduling", "scheduled", "scheduler", "pending", "unschedulable", "nodes")
    kin = ("quota", "node pressure", "out of memory", "memory leak", "CPU")
    return Fault(entry, (), cause, part, kin, [site.op("get", "pod/*"), site.op("get", "event/*")], "absent")


def missing_key(site: Site, name: str) -> Fault:
    """A variable that comes from a key missing in the settings."""
    holder = site.derived_name(name, ("settings", "options", "params", "conf", "tuning", "env"))
    keys = setting_keys(site, 4)
    missing, present = keys[0], keys[1 : site.dice.randint(2, 4)]
    variables = [
        {"name": key, "valueFrom": {"configMapKeyRef": {"name": holder, "key": key}}} for key in (missing, *present)
    ]
    site.dice.shuffle(variables)
    entry = site.declare(
        "deployment",
        name,
        replicas=site.dice.randint(1, 3),
        status=_CRASH,
        containers=[{"name": name, "env": variables}],
    )
    settings = site.declare("configmap", holder, data={key: setting_value(site, key) for key in present})
    reads = [
        site.op("get", f"configmap/{holder}"),
        *_seen_from_pods(site, name)[1:],
        site.op("log", f"deployment/{name}"),
    ]
    part = (holder, "the config map", "configmap", "config map", "settings")
    return Fault(entry, (settings,), ((missing,), _ABSENT), part, ("missing key",), reads, "crashing")


def unbound_claim(site: Site, name: str) -> Fault:
    """A claim on storage that nothing provides."""
    claim = site.derived_name(name, ("data", "files", "store", "records", "spool"))
    entry = site.declare(
        "statefulset", name, replicas=1, status="pending", volumes=[claim],
        reason="pod has unbound immediate PersistentVolumeClaims",
    )  # fmt: skip
    size, kind = (
        f"{site.dice.choice((5, 8, 10, 20, 40))}Gi",
        site.dice.choice(("fast-ssd", "bulk", "replicated", "local-nvme")),
    )
    held = site.declare("pvc", claim, storage=size, status="pending", storage_class=kind)
    cause = (
        (f"the claim {claim}", "the volume claim", "the storage", claim, "volume", "volumes", "claim", "PVC",
         "PersistentVolumeClaim", "PersistentVolumeClaims", "storage"),
        ("not bound", "unbound", "still pending", "pending", "isn't bound", "never bound", "missing", "waits",
         "waiting",
         "without", "not provisioned"),
    )  # fmt: skip
    part = ("storage", "volume", "claim", "PVC")
    reads = [site.op("get", f"pvc/{claim}"), site.op("get", "pod/*"), site.op("get", "event/*")]
    return Fault(entry, (held,), cause, part, ("disk", "quota"), reads, "absent")


def killed_for_memory(site: Site, name: str) -> Fault:
    """A memory limit that the program exceeds."""
    limit = f"{site.dice.choice((96, 128, 160, 192, 256, 384, 512))}Mi"
    entry = site.declare(
        "deployment", name, status="OOMKilled", replicas=site.dice.randint(1, 3), restarts=site.dice.randint(6, 40),
        memory_limit=limit, image=site.image(name, site.version()),
    )  # fmt: skip
    cause = (
        ("the memory limit", f"the limit of {limit}", name, "memory", "memory limit"),
        ("too low", "exceeded", "too small", "out of memory", "OOM*", "killed", "too little memory", "exit code 137",
         "runs out of memory", "exceed*", "not enough", "run out"),
    )  # fmt: skip
    part = ("memory", "limit", "OOMKilled")
    kin = ("out of memory", "memory leak", "node pressure", "quota", "garbage collection")
    return Fault(entry, (), cause, part, kin, _seen_from_pods(site, name), "crashing")


def ending_with_complaint(site: Site, name: str) -> Fault:
    """A program that ends at every start, and says why in its log."""
    kind = site.dice.choice(sorted(COMPLAINTS))
    complaint = COMPLAINTS[kind]
    line = complaint.line(site, site.dice)
    version = site.version()
    opening = site.dice.choice(("INFO {} {} starting", "INFO starting {} {}", "INFO {} {}: reading configuration"))
    last = f"{site.dice.choice(('FATAL', 'ERROR', 'CRITICAL'))} {line}"
    entry = site.declare(
        "deployment", name, replicas=site.dice.randint(1, 3), status=_CRASH, restarts=site.dice.randint(5, 40),
        image=site.image(name, version), logs=[opening.format(name, version), last],
    )  # fmt: skip
    reads = [site.op("log", f"deployment/{name}"), site.op("get", "pod/*")]
    return Fault(entry, (), _spelled_out(complaint.fact, line), complaint.part, complaint.kin, reads, "crashing")


def _spelled_out(fact: Factor, line: str) -> list[list[str]]:
    """A fact with the key that a line names in place of the word for one."""
    key = next((word for word in line.replace(":", "").split() if word.isupper() and "_" in word), "setting")
    return [[key if word == "{key}" else word for word in words] for words in fact]


Breakage = Callable[[Site, str], Fault]
BREAKAGES: Sequence[Breakage] = (
    missing_image, oversized_request, missing_key, unbound_claim, killed_for_memory, ending_with_complaint,
    ending_with_complaint, ending_with_complaint,
)  # fmt: skip
"""What keeps a workload from running; those with the most informative logs."""


def complaint_fact(complaint: Complaint, line: str) -> list[list[str]]:
    """The fact that a line of a complaint states."""
    return _spelled_out(complaint.fact, line)


_KEY_STARTS = ("MAX", "MIN", "DEFAULT", "RETRY", "BATCH", "CACHE", "PAGE", "SYNC", "IDLE", "GRACE")
_VALUES: Mapping[str, tuple[str, ...]] = {
    "MODE": ("strict", "lenient", "shadow", "off"), "REGION": ("north", "south", "harbour", "inland"),
    "FORMAT": ("csv", "json", "parquet", "xml"), "SOURCE": ("primary", "mirror", "archive"),
    "PROFILE": ("winter", "summer", "standard"), "CURRENCY": ("EUR", "CHF", "NOK", "PLN"),
    "WINDOW": ("02:00-04:00", "nights", "weekends"), "LEVEL": ("low", "medium", "high"),
}  # fmt: skip


def setting_keys(site: Site, count: int) -> list[str]:
    """Names of settings, each of another kind."""
    dice, subjects = site.dice, site.business.subjects
    ends = dice.sample((*_KEY_ENDS, "LEVEL", "SIZE", "INTERVAL", "THRESHOLD", "WORKERS"), count)
    starts = dice.sample((*_KEY_STARTS, *(subject.upper() for subject in subjects)), count)
    lower = dice.random() < _LOWER_SHARE
    keys = [f"{start}_{end}" for start, end in zip(starts, ends, strict=True)]
    return [key.lower() for key in keys] if lower else keys


_LOWER_SHARE = 0.3


def setting_value(site: Site, key: str, other_than: str = "") -> str:
    """A value that a setting of that name may have."""
    words = _VALUES.get(key.upper().rpartition("_")[2])
    if words:
        return site.dice.choice([word for word in words if word != other_than])
    figures = [figure for figure in _FIGURES if figure != other_than]
    return site.dice.choice(figures)


_FIGURES = (
    "2",
    "3",
    "4",
    "5",
    "8",
    "10",
    "12",
    "15",
    "20",
    "24",
    "30",
    "40",
    "45",
    "50",
    "60",
    "75",
    "90",
    "120",
    "150",
    "200",
    "300",
)
