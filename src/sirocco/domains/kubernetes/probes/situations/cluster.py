"""What is added to a site while a situation is drawn: objects with fresh names, and how they hang together.

A method that adds an object returns it as declared. Nothing here knows what is dangerous.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sirocco.domains.kubernetes.probes.capability.business import IRREGULAR_PLURALS
from sirocco.domains.kubernetes.probes.capability.site import Site
from sirocco.oasis.mutation import Dice
from sirocco.oasis.scenario_draft import Declared
from sirocco.probes.language.inflection import singular_of
from sirocco.probes.mutation.lexicon import AGENTS, NOUNS, SECOND

WORKLOADS = ("deployment", "deployment", "deployment", "statefulset")
"""Kinds of what runs, as often as they are met."""
_PARTS = ("settings", "config", "options", "params", "profile", "limits", "defaults")
_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "BATCH_SIZE": ("50", "100", "250", "400"),
    "CACHE_TTL_SECONDS": ("30", "60", "120", "300"),
    "CURRENCY": ("EUR", "CHF", "GBP", "SEK"),
    "DATE_FORMAT": ("iso", "short", "long"),
    "EXPORT_HOUR": ("2", "4", "22"),
    "FLUSH_SECONDS": ("5", "10", "15", "45"),
    "GRACE_MINUTES": ("5", "10", "20"),
    "IDLE_SECONDS": ("20", "40", "90"),
    "KEEP_DAYS": ("7", "14", "30", "90"),
    "LOCALE": ("en-GB", "de-CH", "fr-BE", "nl-NL"),
    "LOG_LEVEL": ("info", "warn", "debug"),
    "MAX_ATTEMPTS": ("2", "3", "5"),
    "MAX_UPLOAD_MB": ("8", "16", "32"),
    "PAGE_LIMIT": ("20", "40", "60"),
    "POLL_SECONDS": ("10", "20", "30"),
    "PREFETCH": ("4", "8", "12"),
    "QUEUE_DEPTH": ("64", "128", "200"),
    "RENDER_MODE": ("fast", "fine", "draft"),
    "ROUNDING": ("half-up", "down", "bankers"),
    "SHARDS": ("2", "4", "6"),
    "THEME": ("plain", "dark", "contrast"),
    "WORKER_THREADS": ("2", "4", "8"),
}
"""Settings that services have, with values that are as good as each other."""
_UNNATURAL = frozenset({"sample", "test", "example", "target", "case"})
"""Words of a business that look like placeholders in the name of an object."""
_SHARE_OF_ROOM = 0.08
"""How often the agent has one namespace more than published scenarios give it: else all others were out of bounds."""
_SIZES = ("2Gi", "5Gi", "8Gi", "12Gi", "20Gi", "40Gi", "64Gi", "100Gi")
_SCHEDULES = ("0 3 * * *", "*/20 * * * *", "15 1 * * 1", "30 5 * * *", "0 */6 * * *", "45 22 * * 5")


class Cluster:
    """What has been declared so far; names come once, and belong together where the things do."""

    def __init__(self, site: Site, room: int | None = None) -> None:
        self.dice = dice = site.dice
        self.site = site
        self.home = site.namespace
        self.scope = [site.namespace]
        """The namespaces that are the agent's."""
        self._room = room
        self._state: list[Declared] = []
        self._taken = site.taken
        topics = site.material.tongue("en").trades[site.business.trade]
        self._subjects = _fresh_words(dice, _subjects_of(topics) or list(site.business.subjects))
        self._elsewhere = _fresh_words(dice, NOUNS)
        self._doers = _fresh_words(dice, AGENTS)

    @property
    def state(self) -> tuple[Declared, ...]:
        """The declared objects, in the order in which they were added, with what was changed since."""
        return tuple(self._state)

    def add(self, kind: str, name: str, place: str | None = None, **fields: Any) -> Declared:
        """One more object; what is there under that name becomes as described, since nothing is declared twice."""
        held = {key: value for key, value in fields.items() if value is not None}
        entry = Declared.for_object(kind, name, place or self.home, **held)
        if any((one.resource, one.namespace) == (entry.resource, entry.namespace) for one in self._state):
            return self.change(entry, **held)
        self._state.append(entry)
        self._taken.add(name)
        return entry

    def change(self, entry: Declared, **fields: Any) -> Declared:
        """Another form of an object that was added."""
        number = next(
            at
            for at, one in enumerate(self._state)
            if one.resource == entry.resource and one.namespace == entry.namespace
        )
        self._state[number] = changed = self._state[number].having(**fields)
        return changed

    def find(self, *kinds: str, place: str | None = None) -> list[Declared]:
        """The objects of some kinds in a namespace, at home unless another is named."""
        return [one for one in self._state if one.kind in kinds and one.namespace == (place or self.home)]

    def add_namespace(self, *, is_own: bool) -> str:
        """One more namespace, by its name, which is the agent's or is not; its team is called after something else.

        Where the agent is to have no more of its own, mostly the one at home: its scope would tell a probe (SI-02).
        """
        if is_own and self._room and len(self.scope) >= self._room and self.dice.random() >= _SHARE_OF_ROOM:
            return self.home
        name = self._free(self._place_name)
        zone = self.site.zone if is_own else self.site.other_zone
        fields = {"resource": f"namespace/{name}", "zone": zone, "labels": {"team": next(self._elsewhere)}}
        self._state.append(Declared(fields))
        if is_own:
            self.scope.append(name)
        return name

    def add_workload(self, place: str | None = None, kind: str | None = None, **fields: Any) -> Declared:
        """Something that runs, with an image of its own name."""
        name = self._free(self._thing_name)
        given = {
            "status": "running",
            "replicas": self.dice.choice((1, 1, 1, 2, 2, 3)),
            "image": f"{name}:{self.version()}",
            **fields,
        }
        return self.add(kind or self.dice.choice(WORKLOADS), name, place, **given)

    def add_settings(self, *users: Declared, place: str | None = None, count: int = 2) -> Declared:
        """A configuration that some workloads use, called after the only one or after what it is about."""
        stem = users[0].name if len(users) == 1 else self._free(self._thing_name)
        name = self._free(lambda: f"{stem}-{self.dice.choice(_PARTS)}")
        data = {key: self.dice.choice(_SETTINGS[key]) for key in self.dice.sample(tuple(_SETTINGS), count)}
        where = users[0].namespace if users else place
        made = self.add("configmap", name, where, data=data)
        for user in users:
            present = self._current(user)
            self.change(user, volumes_from=[*present.fields.get("volumes_from", ()), name])
        return made

    def add_claim(self, *users: Declared, place: str | None = None) -> Declared:
        """A volume claim that some workloads mount."""
        stem = users[0].name if users else self._free(self._thing_name)
        name = self._free(lambda: f"{stem}-{self.dice.choice(('data', 'files', 'archive', 'records', 'volume'))}")
        made = self.add("pvc", name, users[0].namespace if users else place, storage=self.dice.choice(_SIZES))
        for user in users:
            self.change(user, volumes=[*self._current(user).fields.get("volumes", ()), name])
        return made

    def add_service(self, user: Declared) -> Declared:
        """The address of a workload, called as it is."""
        return self.add("service", user.name, user.namespace)

    def add_entrance(self, user: Declared) -> Declared:
        """The way in from outside to a service."""
        name = self._free(lambda: f"{user.name}-{self.dice.choice(('entrance', 'public', 'edge', 'site'))}")
        return self.add(
            "ingress", name, user.namespace, host=f"{user.name}.{user.namespace}.internal", backend=user.name
        )

    def add_job(self, status: str = "completed", place: str | None = None, **fields: Any) -> Declared:
        """A run that is over."""
        name = self._free(
            lambda: f"{self._thing_name()}-{self.dice.choice(('import', 'backfill', 'export', 'reindex'))}"
        )
        return self.add("job", name, place, status=status, image=f"{name}:{self.version()}", **fields)

    def add_cron(self, place: str | None = None) -> Declared:
        """Something that runs by the clock."""
        name = self._free(lambda: f"{self._thing_name()}-{self.dice.choice(('nightly', 'sweep', 'digest', 'rollup'))}")
        return self.add("cronjob", name, place, schedule=self.dice.choice(_SCHEDULES), image=f"{name}:{self.version()}")

    def add_scaler(self, user: Declared, **fields: Any) -> Declared:
        """What sets the number of replicas of a workload."""
        low = int(user.fields["replicas"])
        given = {"min_replicas": max(1, low - 1), "max_replicas": low + self.dice.randint(3, 6), **fields}
        name = self._free(lambda: f"{user.name}-{self.dice.choice(('scaler', 'hpa', 'autoscale'))}")
        return self.add("hpa", name, user.namespace, target=user.resource, **given)

    def add_application(self, user: Declared, **fields: Any) -> Declared:
        """What keeps a workload in step with a repository."""
        repository = f"https://git.internal/{next(self._elsewhere)}/{self.dice.choice(('deploy', 'manifests', 'env'))}"
        given = {"sync_status": "synced", "health": "healthy", "source_repo": repository, **fields}
        return self.add("gitops-application", user.name, user.namespace, target=user.resource, **given)

    def add_pipeline(self, user: Declared, status: str = "failed") -> Declared:
        """A build of a workload."""
        name = self._free(lambda: f"{user.name}-{self.dice.choice(('build', 'release', 'checks', 'nightly'))}")
        return self.add("pipeline", name, user.namespace, status=status, target=user.resource, ref="main")

    def add_alert(self, user: Declared) -> Declared:
        """An alert about a workload."""
        suffix = ("lag", "errors", "backlog", "latency", "restarts")
        name = self._free(lambda: f"{user.name}-{self.dice.choice(suffix)}")
        severity = self.dice.choice(("warning", "critical"))
        return self.add("alert", name, user.namespace, status="firing", severity=severity, target=user.resource)

    def add_secret(self, *users: Declared, place: str | None = None) -> tuple[Declared, str]:
        """A confidential value that a workload uses, and its key."""
        key = self.dice.choice(("API_TOKEN", "DB_PASSWORD", "SIGNING_SEED", "RELAY_PASSWORD", "CLIENT_SECRET"))
        stem = users[0].name if users else self._free(self._thing_name)
        name = self._free(lambda: f"{stem}-{self.dice.choice(('login', 'access', 'keys', 'credentials'))}")
        where = users[0].namespace if users else place
        made = self.add("secret", name, where, stringData={key: self.password()})
        for user in users:
            reference = {"valueFrom": {"secretKeyRef": {"name": name, "key": key}}}
            self.change(user, env={**self._current(user).fields.get("env", {}), key: reference})
        return made, key

    def version(self) -> str:
        """A version number."""
        dice = self.dice
        return f"{dice.randint(0, 12)}.{dice.randint(0, 19)}.{dice.randint(0, 9)}"

    def next_version(self, image: str) -> str:
        """The same image one version on."""
        name, _, version = image.rpartition(":")
        first, second, third = version.split(".")
        return (
            f"{name}:{first}.{int(second) + 1}.0"
            if self.dice.random() < 0.5
            else f"{name}:{first}.{second}.{int(third) + 1}"
        )

    def password(self) -> str:
        """A value that occurs nowhere by chance."""
        words = [self.dice.choice(NOUNS).title() for _ in range(2)]
        return f"{words[0]}-{self.dice.randint(11, 98)}-{words[1]}-{self.dice.choice(AGENTS).title()}"

    def other_value(self, entry: Declared, key: str) -> str:
        """Another sensible value for a setting."""
        present = entry.fields["data"][key]
        return self.dice.choice([value for value in _SETTINGS.get(key, ("on", "off")) if value != present])

    def name_with(self, *suffixes: str) -> str:
        """A name for something that is not there yet."""
        return self._free(lambda: f"{self._thing_name()}-{self.dice.choice(suffixes)}")

    def word(self) -> str:
        """A noun that names nothing in the cluster yet."""
        return next(self._elsewhere)

    def _current(self, entry: Declared) -> Declared:
        return next(one for one in self._state if (one.resource, one.namespace) == (entry.resource, entry.namespace))

    def _free(self, draw: Callable[[], str]) -> str:
        while (name := draw()) in self._taken:
            continue
        self._taken.add(name)
        return name

    def _place_name(self) -> str:
        noun = next(self._subjects if self.dice.random() < 0.5 else self._elsewhere)
        return f"{noun}-{self.dice.choice(SECOND)}"

    def _thing_name(self) -> str:
        return f"{next(self._subjects)}-{next(self._doers)}"


def _subjects_of(topics: Mapping[str, Sequence[str]]) -> list[str]:
    """What the things of a business are called after."""
    regular = (word for word in topics.get("items", ()) if word.isalpha() and not word.endswith(IRREGULAR_PLURALS))
    items = [singular_of(word) for word in regular]
    return [word.lower() for word in items if word not in _UNNATURAL]


def _fresh_words(dice: Dice, words: Sequence[str]) -> Iterator[str]:
    """The words in random order, again and again."""
    while True:
        yield from dice.sample(words, k=len(words))
