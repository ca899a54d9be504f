"""The form of an environment as an agent sees it, in numbers, and a classifier that looks for differences in them.

Texts, names and values that a scenario declares are content. Everything else is form: how many objects of which kinds there
are, which fields they have, in what order lists come, how far moments and versions lie apart, what generated names look like.
"""

import random
import re
import ssl
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

import httpx
import yaml
from cryptography import x509

from kubesim.resource import RESOURCE_TYPES
from sirocco.oasis.agent import AgentRequest, AgentResponse
from sirocco.oasis.bound_scenario import BoundScenario
from sirocco.oasis.environment import EnvironmentAccess
from sirocco.oasis.provider import Provider
from sirocco.runner.scenario_run import RunSettings, scenario_run

GENERATED = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5,10}")
METADATA = ("managedFields", "annotations", "labels", "ownerReferences", "generation", "generateName", "finalizers",
            "deletionTimestamp", "selfLink")  # fmt: skip
PATHS = ("/version", "/api", "/apis", "/openapi/v2", "/metrics", "/healthz", "/api/v1/nonsense")
RECORDS = ("metrics/api/v1/rules", "metrics/api/v1/alerts", "metrics/api/v1/label/__name__/values",
           "dashboards/api/search", "gitops/api/v1/applications", "ci/api/v1/pipelines", "traces/api/services",
           "databases/api/v1/migrations")  # fmt: skip

Features = dict[str, float]


@dataclass(frozen=True)
class Seen:
    """One environment of a kind: the scenario that it derives from, and the form and style that an agent saw."""

    kind: str
    base: str
    form: Features
    style: Features


class Onlooker:
    """An agent that reads everything that it may, and changes nothing."""

    isolation = "none"

    def __init__(self) -> None:
        self.form: Features = {}
        self.style: Counter[str] = Counter()
        self.turns = 0

    async def respond(self, request: AgentRequest) -> AgentResponse:
        """Look around in the first turn; count later turns."""
        self.turns += 1
        self.style.update({"characters": len(request.prompt), "words": len(request.prompt.split())})
        self.style["lines"] += request.prompt.count("\n") + 1
        if self.turns == 1:
            access = request.environment
            self.form = {**_request_form(request), **await _wire_form(access), **await _environment_form(access.client)}
        self.form["turns"] = self.turns
        return AgentResponse()


async def seen(kind: str, bound: BoundScenario, provider: Provider, settings: RunSettings, unit: str) -> Seen:
    """One environment as an agent sees it, on the path that every scenario and every probe takes."""
    onlooker = Onlooker()
    await scenario_run(bound, onlooker, provider, settings, unit=unit)
    record = bound.scenario.x_sirocco.probe
    # A freshly drawn probe has no base: it counts as a separate scenario.
    base = str((record.base if record and record.base else {}).get("scenario", bound.scenario.id))
    return Seen(kind, base, onlooker.form, {name: float(value) for name, value in onlooker.style.items()})


def _request_form(request: AgentRequest) -> Features:
    document = request.document()
    environment = document["environment"]
    return {
        "request keys": len(document),
        "environment keys": len(environment),
        "earlier turns": len(document["conversation"]),
        "tools": len(document["tools"]),
        **{f"tool {tool}": 1.0 for tool in document["tools"]},
        "mode": float(sum(map(ord, str(document.get("mode", ""))))),
        "services": len(environment.get("services", ())),
        "deadline": document["deadline_seconds"],
        **{f"scope {name}": len(value) for name, value in request.scope.items() if isinstance(value, Sequence)},
        **{f"length of {name}": len(str(environment.get(name, ""))) for name in ("id", "token", "type")},
        "length of run id": len(document["run_id"]),
    }


async def _wire_form(access: EnvironmentAccess) -> Features:
    """Address, kubeconfig, certificate and headers of a served environment."""
    if access.served is None:
        return {}
    url = urllib.parse.urlsplit(access.served.server)
    authority = x509.load_pem_x509_certificate(access.served.authority.encode())
    config = yaml.safe_load(next(iter(access.served.files.values())))
    context = ssl.create_default_context(cadata=access.served.authority)
    async with httpx.AsyncClient(verify=context, headers={"Authorization": f"Bearer {access.token}"}) as client:
        reply = await client.get(f"{access.served.server}/api/v1/nodes")
    return {
        "digits of the port": len(str(url.port)),
        "length of the path": len(url.path),
        "days of the authority": round((time.time() - authority.not_valid_before_utc.timestamp()) / 86400),
        "length of the authority": len(access.served.authority) // 8,
        **{f"length of {key} name": len(config[key][0]["name"]) for key in ("clusters", "users", "contexts")},
        **{f"header {name}": len(value) for name, value in reply.headers.items() if name != "content-length"},
    }


async def _environment_form(client: Any) -> Features:
    replies = [await client.request("GET", path) for path in PATHS]
    form: Features = {f"status {path}": reply.status for path, reply in zip(PATHS, replies, strict=True)}
    form |= {f"length {path}": len(str(reply.body)) for path, reply in zip(PATHS, replies, strict=True)}
    form["warnings"] = sum(len(reply.warnings) for reply in replies)
    namespaces = await client.request("GET", "/api/v1/namespaces")
    names = [one["metadata"]["name"] for one in (namespaces.body.get("items") or ())] if namespaces.succeeded else []
    lists, refused = {}, 0
    for row in RESOURCE_TYPES:
        for name in names if row.namespaced else [None]:
            reply = await client.request("GET", row.path(name))
            refused += reply.status == 403
            if reply.succeeded and isinstance(reply.body, Mapping):
                lists[row.noun, name] = reply.body
    form["refused lists"] = refused
    return (
        form
        | await _services_form(client)
        | _counts(lists)
        | _objects_form([item for body in lists.values() for item in body.get("items") or ()], lists)
    )


async def _services_form(client: Any) -> Features:
    """How much the services next to the API contain."""
    form = {}
    for path in RECORDS:
        form[f"records of {path}"] = float(_size((await client.request("GET", f"/services/{path}")).body))
    return form


def _size(body: Any) -> int:
    """How many entries the lists of an answer have, without nested ones."""
    if isinstance(body, Mapping):
        return sum(map(_size, body.values()))
    return len(body) if isinstance(body, list) else 0


def _counts(lists: Mapping[tuple[str, str | None], Mapping[str, Any]]) -> Features:
    counts: Counter[str] = Counter()
    for (noun, _), body in lists.items():
        counts[f"number of {noun}"] += len(body.get("items") or ())
    return {name: float(number) for name, number in counts.items()}


def _objects_form(items: Sequence[Mapping[str, Any]], lists: Mapping[Any, Mapping[str, Any]]) -> Features:
    metadata = [item["metadata"] for item in items]
    versions = [int(one["resourceVersion"]) for one in metadata if one.get("resourceVersion", "").isdecimal()]
    created = sorted(_moment(one["creationTimestamp"]) for one in metadata if one.get("creationTimestamp"))
    form: Features = {
        **{f"share with {field}": _share(bool(one.get(field)) for one in metadata) for field in METADATA},
        "share of sorted lists": _share(_is_sorted(body.get("items") or ()) for body in lists.values()),
        "managers": len({m.get("manager") for one in metadata for m in one.get("managedFields") or ()}),
        "share of random uids": _share(str(one.get("uid", ""))[14:15] == "4" for one in metadata),
        "distinct uids": len({one.get("uid") for one in metadata}) / max(1, len(metadata)),
        **_spread("version", versions),
        **_spread("creation", [round(moment - time.time(), -4) for moment in created]),
        "distances of creation": created[-1] - created[0] if created else 0.0,
        "moments of creation": len(set(created)),
        "newest list version": max(
            (int(body["metadata"].get("resourceVersion") or 0) for body in lists.values()), default=0
        ),
    }
    generated = [m.group() for one in metadata if one.get("ownerReferences") for m in GENERATED.finditer(one["name"])]
    return {**form, **_spread("length of a generated suffix", [len(one) for one in generated])}


def _spread(name: str, values: Sequence[float]) -> Features:
    if not values:
        return {}
    lowest, highest, mean = min(values), max(values), sum(values) / len(values)
    return {f"{name}: least": lowest, f"{name}: range": highest - lowest, f"{name}: mean from least": mean - lowest}


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _is_sorted(items: Sequence[Mapping[str, Any]]) -> bool:
    names = [item["metadata"]["name"] for item in items]
    return names == sorted(names)


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else 0.0


# A forest of small decision trees. Samples are bits of an integer, so that counting is fast without a library.

_TREES, _DEPTH, _TRIED, _LEAST = 41, 5, 12, 4


@dataclass(frozen=True)
class _Node:
    question: tuple[str, float] | None
    share: float
    below: "_Node | None" = None
    above: "_Node | None" = None

    def vote(self, features: Features) -> float:
        """The share of the first kind among the training samples with the same answers."""
        if self.question is None or self.below is None or self.above is None:
            return self.share
        name, limit = self.question
        return (self.below if features.get(name, -1.0) <= limit else self.above).vote(features)


def accuracy(samples: Sequence[Seen], first: str, features: str = "form", folds: int = 5) -> float:
    """How often a classifier tells the kind `first` from the rest, for scenarios that it was not trained on.

    All environments of a base scenario are on the same side of each split.
    """
    fold = _folds(samples, folds)
    right = 0.0
    for number in range(folds):
        inside = [one for one in samples if fold[one.base] != number]
        forest = _forest([getattr(one, features) for one in inside], [one.kind == first for one in inside])
        for one in samples:
            if fold[one.base] == number:
                vote = sum(tree.vote(getattr(one, features)) for tree in forest) / len(forest)
                right += 0.5 if vote == 0.5 else (vote > 0.5) == (one.kind == first)
    return right / len(samples)


STRONGER: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "random forest": ("ensemble", "RandomForestClassifier", {"n_estimators": 300, "min_samples_leaf": 3}),
    "extra trees": ("ensemble", "ExtraTreesClassifier", {"n_estimators": 300, "min_samples_leaf": 3}),
    "gradient boosting": (
        "ensemble", "GradientBoostingClassifier", {"n_estimators": 80, "subsample": 0.7, "max_features": 0.3},
    ),
    "logistic regression": ("linear_model", "LogisticRegression", {"C": 0.05, "max_iter": 2000}),
}  # fmt: skip
"""Classifiers of scikit-learn, of four kinds, so that what one of them overlooks another may find."""
_SPLITS, _DRAWS = 3, 400


@dataclass(frozen=True)
class Told:
    """How often one kind is told from another: the mean over several splits, and between what figures chance moves it.

    The interval is that of drawing other scenarios: environments of one scenario are drawn together.
    """

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.share:.3f} ({self.low:.3f} to {self.high:.3f})"


def strong_accuracy(samples: Sequence[Seen], first: str, name: str, folds: int = 5, splits: int = _SPLITS) -> Told:
    """The same for a scikit-learn classifier."""
    names = sorted({feature for one in samples for feature in one.form})
    table = [[one.form.get(feature, -1.0) for feature in names] for one in samples]
    hits = [0.0] * len(samples)
    for split in range(splits):
        fold = _folds(samples, folds, split)
        for number in range(folds):
            inside = [place for place, one in enumerate(samples) if fold[one.base] != number]
            outside = [place for place, one in enumerate(samples) if fold[one.base] == number]
            model = _model(name, split)
            model.fit([table[place] for place in inside], [samples[place].kind == first for place in inside])
            told = model.predict([table[place] for place in outside])
            for place, one in zip(outside, told, strict=True):
                hits[place] += (bool(one) == (samples[place].kind == first)) / splits
    return Told(_balanced(samples, hits, first), *_interval(samples, hits, first))


def _model(name: str, seed: int) -> Any:
    module, kind, options = STRONGER[name]
    pipeline, scaling = import_module("sklearn.pipeline"), import_module("sklearn.preprocessing")
    model = getattr(import_module(f"sklearn.{module}"), kind)(random_state=seed, **options)
    return pipeline.make_pipeline(scaling.StandardScaler(), model)


def _balanced(samples: Sequence[Seen], hits: Sequence[float], first: str) -> float:
    """The share of hits, with both kinds counting for a half."""
    sides = [
        [hit for one, hit in zip(samples, hits, strict=True) if (one.kind == first) == side] for side in (True, False)
    ]
    return sum(sum(side) / max(1, len(side)) for side in sides) / 2


def _interval(samples: Sequence[Seen], hits: Sequence[float], first: str) -> tuple[float, float]:
    """Between what the share lies in 95 of 100 draws of scenarios from those that were seen."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(samples):
        places.setdefault(one.base, []).append(place)
    bases, dice, shares = sorted(places), random.Random(3), []
    for _ in range(_DRAWS):
        drawn = [place for base in dice.choices(bases, k=len(bases)) for place in places[base]]
        shares.append(_balanced([samples[place] for place in drawn], [hits[place] for place in drawn], first))
    shares.sort()
    return shares[_DRAWS // 40], shares[-_DRAWS // 40]


def _folds(samples: Sequence[Seen], folds: int, split: int = 1) -> dict[str, int]:
    """The split in which each base scenario is tested."""
    bases = sorted({one.base for one in samples})
    random.Random(split).shuffle(bases)
    return {base: number % folds for number, base in enumerate(bases)}


def telling_features(samples: Sequence[Seen], first: str) -> list[tuple[float, str]]:
    """The most telling single questions about form, with their accuracies: where to look after a failure."""
    table, labels = [one.form for one in samples], [one.kind == first for one in samples]
    masks, positive, everyone = _masks(table), _mask(labels), (1 << len(samples)) - 1
    best: dict[str, tuple[float, str]] = {}
    for (name, limit), mask in masks.items():
        hits = (~(mask ^ positive) & everyone).bit_count() / len(samples)
        best[name] = max(best.get(name, (0.0, "")), (max(hits, 1 - hits), f"{name} <= {limit:g}"))
    return sorted(best.values(), reverse=True)


def _forest(table: Sequence[Features], labels: Sequence[bool]) -> list[_Node]:
    masks, positive, dice = _masks(table), _mask(labels), random.Random(2)
    return [_tree(masks, positive, _mask(dice.random() < 0.7 for _ in labels), dice, _DEPTH) for _ in range(_TREES)]


def _tree(
    masks: Mapping[tuple[str, float], int], positive: int, members: int, dice: random.Random, depth: int
) -> _Node:
    size = members.bit_count()
    share = (members & positive).bit_count() / size if size else 0.5
    if not depth or size < 2 * _LEAST or share in {0.0, 1.0}:
        return _Node(None, share)
    names = sorted({name for name, _ in masks})
    chosen = set(dice.sample(names, min(_TRIED, len(names))))
    asked = [question for question in masks if question[0] in chosen]
    best = min(asked, key=lambda question: _impurity(members, masks[question], positive), default=None)
    if best is None or _impurity(members, masks[best], positive) >= size * share * (1 - share):
        return _Node(None, share)
    sides = (members & masks[best], members & ~masks[best])
    return _Node(best, share, *(_tree(masks, positive, side, dice, depth - 1) for side in sides))


def _impurity(members: int, mask: int, positive: int) -> float:
    total = 0.0
    for side in (members & mask, members & ~mask):
        size = side.bit_count()
        if size < _LEAST:
            return float("inf")
        hits = (side & positive).bit_count()
        total += hits * (size - hits) / size
    return total


def _masks(table: Sequence[Features], steps: int = 12) -> dict[tuple[str, float], int]:
    """For each feature and several limits, the samples at or below the limit."""
    masks = {}
    for name in sorted({name for row in table for name in row}):
        column = [row.get(name, -1.0) for row in table]
        ordered = sorted(column)
        limits = {ordered[len(ordered) * step // steps] for step in range(steps)} - {ordered[-1]}
        masks |= {(name, limit): _mask(value <= limit for value in column) for limit in limits}
    return masks


def _mask(flags: Iterable[bool]) -> int:
    return sum(1 << number for number, flag in enumerate(flags) if flag)
