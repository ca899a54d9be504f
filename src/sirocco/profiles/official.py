"""Reads the standard's Markdown package as one profile document, each value from its place in the prose.

Tables are recognized by their columns, sections by their labels, so chapters can move. If the package says something
twice in different words, that is a finding; what cannot be read is one too, and the rest still loads.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sirocco.errors import Finding, Place
from sirocco.oasis.archetype import AggregationMethod, Classification
from sirocco.oasis.profile import environment_type_in
from sirocco.oasis.stimulus import Stimulus
from sirocco.profiles.decomposition import synonyms_in, templates_in
from sirocco.profiles.markdown import (
    Document,
    Fence,
    Items,
    Prose,
    Section,
    Table,
    codes,
    pieces,
    plain_node,
    read_markdown,
)
from sirocco.profiles.parse import parse
from sirocco.profiles.read import MARKDOWN_FILES, SourceFile
from sirocco.profiles.rules import RULES
from sirocco.profiles.yaml_text import Node, read_yaml

PROFILE, SAFETY, CAPABILITY, BEHAVIORS, INTERFACES, STIMULI, CONFORMANCE, DECOMPOSITION = MARKDOWN_FILES

# Repetitions are bounded, so that no text can make a search slow.
_IDENTIFIED = re.compile(r"(?P<id>[A-Z]+(?:-[A-Z]+)*-\d+):\s*(?P<name>\S.*)")
_TIER = re.compile(r"Tier (?P<tier>\d{1,3})\b[\s—–:-]*(?P<name>.*)")
_FROM_TIER = re.compile(r"\bTier (\d{1,3})\+")
_SHARE = re.compile(r"(?P<name>[^,()]{1,80})\((?P<weight>\d{1,3}(?:\.\d{1,9})?)\)")
_WEIGHTED = re.compile(
    r"(?P<names>[^.()]{1,120}?)(?:\s+archetypes?)?(?:\s+weighted)?\s+(?P<weight>\d{1,3}(?:\.\d{1,9})?)x"
)
_TOLERANCE = re.compile(r"`safety_tolerance`[^.(]{0,80}\(default:\s*(\d{1,3})%\)")
_AT_LEAST = re.compile(r"(?:≥|>=|\bat least)\s*(?P<number>\d{1,6})\s+(?P<what>[\w ]+)", re.IGNORECASE)
_AT_MOST = re.compile(r"(?:≤|<=|\bat most)\s*(?P<number>\d{1,6})\s+(?P<what>[\w ]+)", re.IGNORECASE)
_BETWEEN = re.compile(r"(?P<low>\d{1,6})\s*[–-]\s*(?P<high>\d{1,6})\s+(?P<what>[\w ]+)")
_SEVERAL = re.compile(r"\bMulti-(?P<what>\w{1,40})[^()]{0,80}\((?:≥|>=)(?P<number>\d{1,6})[):]", re.IGNORECASE)
_PER_CATEGORY = re.compile(
    r"categories:\s*(?:(?:≥|>=|at least)\s*(?P<number>\d{1,6})|(?P<all>all))\s+archetype", re.IGNORECASE
)
_METHODS = {"weighted average": AggregationMethod.WEIGHTED_AVERAGE, "minimum": AggregationMethod.MINIMUM}


@dataclass(frozen=True, slots=True)
class OfficialPackage:
    """The profile document, with a place for every value, and the problems found while reading it."""

    document: Node
    findings: tuple[Finding, ...]


def official_package(files: Mapping[str, SourceFile]) -> OfficialPackage:
    """The package's files, by name, as one document of the native form."""
    findings: list[Finding] = []
    documents: dict[str, Document] = {}
    for name, file in files.items():
        document = read_markdown(file.text, file.name) if name.endswith(".md") else None
        if document is not None:
            documents[name] = document
        elif name.endswith(".md"):
            findings.append(RULES["yaml-limit"].finding(Place(file.name), "", "the file is too long", "split it"))
    builder = _Builder(files, documents, findings)
    return OfficialPackage(builder.document(), tuple(findings))


def slug(name: str) -> str:
    """The id for a name in prose: `Boundary Enforcement` becomes `boundary-enforcement`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _dimension(name: str) -> str:
    return slug(name).replace("-", "_")


@dataclass(slots=True)
class _Builder:
    """Reads one chapter after the other; a missing chapter leaves its field out."""

    files: Mapping[str, SourceFile]
    documents: Mapping[str, Document]
    findings: list[Finding]

    def document(self) -> Node:
        profile = self._markdown(PROFILE)
        labels = profile.labels()
        archetypes = [*self._archetypes(SAFETY), *self._archetypes(CAPABILITY)]
        interfaces = self._markdown(INTERFACES)
        conformance = self._conformance(labels.get("version"))
        fields: dict[str, Node | None] = {
            "id": labels.get("profile identifier"),
            "name": labels.get("profile name"),
            "version": labels.get("version"),
            "description": labels.get("description"),
            "oasis_core": _requirement(labels.get("oasis core dependency")),
            "vocabulary": self._table(profile, ("domain term", "definition"), 0, 1),
            "core_concepts": self._table(profile, ("domain term", "definition", "maps to"), 0, 2),
            "categories": self._list([*self._categories(SAFETY), *self._categories(CAPABILITY, profile, archetypes)]),
            "subcategories": self._list(self._subcategories(profile)),
            "archetypes": self._list(archetypes),
            "behaviors": self._list(self._behaviors()),
            "interfaces": self._list(self._interfaces(interfaces)),
            "verbs": self._table(interfaces, ("verb", "semantics"), 0, 1),
            "resource_types": self._table(interfaces, ("resource type", "profile vocabulary"), 0, 1),
            "scoring": self._scoring(profile),
            "scoring_templates": templates_in(self._markdown(DECOMPOSITION)),
            "deviation_synonyms": synonyms_in(self._markdown(DECOMPOSITION)),
            "tiers": self._list(self._tiers(profile, archetypes, conformance)),
            "conformance": conformance,
            "stimuli": self._stimuli(),
            **self._blocks(profile),
        }
        self._same_version(labels.get("version"))
        return Node.mapping({name: node for name, node in fields.items() if node is not None}, self._place(PROFILE))

    def _markdown(self, name: str) -> Document:
        return self.documents.get(name) or Document(name, ())

    def _place(self, name: str) -> Place:
        return Place(self.files[name].name if name in self.files else name)

    def _list(self, nodes: Sequence[Node]) -> Node | None:
        return Node.sequence(nodes, nodes[0].place) if nodes else None

    def _table(self, document: Document, columns: Sequence[str], key: int, value: int) -> Node | None:
        """Two columns of a table as a mapping."""
        table = document.table(*columns)
        if table is None:
            return None
        entries = {
            str(plain_node(row[key]).value): plain_node(row[value]) for row in table.rows if len(row) > max(key, value)
        }
        return Node.mapping(entries, table.header[0].place)

    # Categories and archetypes.

    def _categories(
        self, name: str, profile: Document | None = None, archetypes: Sequence[Node] = ()
    ) -> Iterator[Node]:
        classification = Classification.SAFETY if name == SAFETY else Classification.CAPABILITY
        table = profile.table("category", "core dimension", "archetypes", "aggregation") if profile else None
        overview = _rows_by_name(table)
        names: dict[str, dict[str, str]] = {}
        for one in archetypes:
            names.setdefault(one.value["category"], {})[one.value["id"]] = one.value["name"]
        for section in self._markdown(name).sections:
            labels = section.labels()
            core = labels.get("core mapping") or labels.get("core dimension mapping")
            if core is None:
                continue
            identity = slug(str(section.title.value))
            fields = {
                "id": Node(identity, section.title.place),
                "name": section.title,
                "classification": Node(classification.value, section.title.place),
                "description": labels.get("core question"),
                "core": _core(core, classification),
            }
            if "aggregation" in labels:
                own = names.get(identity, {})
                fields["aggregation"] = self._aggregation(labels["aggregation"], own)
                self._same_aggregation(fields["aggregation"], overview.get(identity, ())[3:4], own)
            yield _mapping(fields, section.title.place)

    def _archetypes(self, name: str) -> Iterator[Node]:
        for section, below in self._markdown(name).tree():
            labels = section.labels()
            if "core mapping" not in labels and "core dimension mapping" not in labels:
                continue
            for one in below:
                found = _IDENTIFIED.fullmatch(str(one.title.value))
                if found is None:
                    self._report_unreadable(one.title, "an archetype", "write ID: Name, as in S-BE-001: Zone Violation")
                    continue
                yield _mapping(
                    {
                        "id": Node(found["id"], one.title.place),
                        "name": Node(found["name"], _shift_right(one.title.place, found.start("name"))),
                        "category": Node(slug(str(section.title.value)), section.title.place),
                        "pattern": next((block.text for block in one.blocks if isinstance(block, Prose)), None),
                        "details": _details(one),
                    },
                    one.title.place,
                )

    def _aggregation(self, prose: Node, archetypes: Mapping[str, str]) -> Node | None:
        """`Weighted average. Trace navigation weighted 1.5x.`, or the same with the weights in brackets."""
        text = str(prose.value)
        method = next((value for words, value in _METHODS.items() if text.lower().startswith(words)), None)
        if method is None:
            self._report_unreadable(prose, "a way to aggregate", f"begin with one of: {', '.join(_METHODS)}")
            return None
        weights: dict[str, Node] = {}
        start = len(method.replace("_", " "))
        for found in _WEIGHTED.finditer(text, start):
            weight = Node(float(found["weight"]), _shift_right(prose.place, found.start("weight")))
            for words in re.split(r",|\band\b", found["names"].strip(" .(")):
                matching = [one for one, name in archetypes.items() if _abbreviates(words, name)]
                if not matching:
                    self._report_unreadable(prose, f"an archetype called {words.strip()!r}", "use the archetype's name")
                weights |= dict.fromkeys(matching, weight)
        fields = {"method": Node(method.value, prose.place), "archetype_weights": Node.mapping(weights, prose.place)}
        return _mapping(fields, prose.place)

    def _same_aggregation(self, chosen: Node | None, overview: Sequence[Node], archetypes: Mapping[str, str]) -> None:
        """The overview in the profile and the category's own chapter give the same weights; the chapter counts."""
        for cell in overview:
            other = self._aggregation(plain_node(cell), archetypes)
            if chosen is not None and other is not None and other.value != chosen.value:
                problem = f"the category's own chapter aggregates differently, {chosen.place}"
                self._report(
                    "package-disagrees", plain_node(cell).place, problem, "write the same in both; the chapter is used"
                )

    def _subcategories(self, profile: Document) -> list[Node]:
        columns = ("subcategory", "parent category", "description")
        table = profile.table(*columns) or self._markdown(SAFETY).table(*columns)
        nodes = []
        for row in table.rows if table else ():
            identity, parents, description = (plain_node(cell) for cell in row[:3])
            categories = [Node(slug(str(parent.value)), parent.place) for parent in pieces(parents, ",")]
            fields = {
                "id": identity,
                "categories": Node.sequence(categories, parents.place),
                "description": description,
            }
            nodes.append(_mapping(fields, identity.place))
        return nodes

    # Behaviours, interfaces, stimuli, conformance.

    def _behaviors(self) -> list[Node]:
        nodes = []
        for group, below in self._markdown(BEHAVIORS).tree():
            if group.level != 2:
                continue
            for section in below:
                fields = {
                    "id": section.title,
                    "group": group.title,
                    "definition": _joined_text(prose for prose in section.prose if not dict(prose.labels())),
                    "verification": section.labels().get("verification"),
                }
                nodes.append(_mapping(fields, section.title.place))
        return nodes

    def _interfaces(self, document: Document) -> list[Node]:
        table = document.table("type identifier", "description")
        nodes = []
        for row in table.rows if table else ():
            identity, description, *rest = (plain_node(cell) for cell in row)
            examples = list(pieces(rest[0], ",")) if rest else []
            fields = {"id": identity, "description": description, "examples": self._list(examples)}
            nodes.append(_mapping(fields, identity.place))
        return nodes

    def _stimuli(self) -> Node | None:
        stimuli: dict[str, Node] = {}
        for section in self._markdown(STIMULI).sections:
            found = _IDENTIFIED.fullmatch(str(section.title.value))
            fence = next((block for block in section.blocks if isinstance(block, Fence)), None)
            if found is None or fence is None:
                continue
            text = read_yaml(fence.text, fence.place.file, fence.place)
            problems = [*text.findings, *(one for node in text.documents for one in parse(Stimulus, node).findings)]
            for problem in problems:
                self._report("stimulus-unreadable", problem.place, f"{found['id']}: {problem.problem}", problem.remedy)
            if len(text.documents) == 1 and parse(Stimulus, text.documents[0]).noun is not None:
                stimuli[found["id"]] = text.documents[0]
        return Node.mapping(stimuli, self._place(STIMULI)) if stimuli else None

    def _conformance(self, version: Node | None) -> Node | None:
        file = self.files.get(CONFORMANCE)
        if file is None:
            return None
        text = read_yaml(file.text, file.name)
        self.findings += text.findings
        root = text.documents[0] if text.documents else None
        if root is None or "requirements" not in root.children:
            return None
        stated = root.children.get("profile_version")
        if stated is not None and version is not None and stated.value != version.value:
            self._other_version(stated, version)
        return root.children["requirements"]

    def _same_version(self, version: Node | None) -> None:
        for name in (SAFETY, CAPABILITY, BEHAVIORS, INTERFACES, STIMULI, DECOMPOSITION):
            stated = self._markdown(name).labels().get("profile version")
            if stated is not None and version is not None and stated.value != version.value:
                self._other_version(stated, version)

    def _other_version(self, stated: Node, version: Node) -> None:
        problem = f"this is for version {stated.value} of the profile, which is at {version.value}"
        self._report("package-disagrees", stated.place, problem, f"write {version.value}")

    # Scoring, tiers and what stands in fenced blocks.

    def _scoring(self, profile: Document) -> Node | None:
        table = profile.table("core dimension", "contributing categories")
        if table is None:
            return None
        dimensions = {}
        for row in table.rows:
            name, shares = plain_node(row[0]), plain_node(row[1])
            weights = {
                slug(found["name"]): Node(float(found["weight"]), _shift_right(shares.place, found.start("weight")))
                for found in _SHARE.finditer(str(shares.value))
            }
            dimensions[_dimension(str(name.value))] = Node.mapping(weights, shares.place)
        place = table.header[0].place
        fields = {"safety_tolerance": _tolerance(profile), "dimensions": Node.mapping(dimensions, place)}
        return _mapping(fields, place)

    def _tiers(self, profile: Document, archetypes: Sequence[Node], conformance: Node | None) -> list[Node]:
        at_least = partial(_lower_bounds, environment_type_in(conformance.value if conformance else None))
        interfaces = list(_interfaces_by_tier(profile))
        smallest = min(Counter(one.value["category"] for one in archetypes).values(), default=1)
        nodes = []
        for section in profile.sections:
            found = _TIER.fullmatch(str(section.title.value))
            lists = dict(_labelled_lists(section))
            if found is None or "environment" not in lists:
                continue
            place, tier = section.title.place, int(found["tier"])
            demands = lists["environment"]
            fields: dict[str, Node | None] = {
                "tier": Node(tier, _shift_right(place, found.start("tier"))),
                "name": Node(found["name"], _shift_right(place, found.start("name"))),
                "environment": Node.mapping(dict(_counted_demands(demands, at_least)), demands[0].place),
                "at_most": Node.mapping(dict(_counted_demands(demands, _upper_bounds)), demands[0].place),
                "requirements": self._list([plain_node(demand) for demand in demands]),
                "interfaces": self._list([one for since, one in interfaces if since <= tier]),
                **self._coverage(lists.get("minimum coverage", ()), smallest),
            }
            nodes.append(_mapping(fields, place))
        return nodes

    def _coverage(self, demands: Sequence[Node], smallest: int) -> dict[str, Node | None]:
        """How many archetypes every category needs, and other requirements; `smallest` is the minimum for all."""
        minimum: Node | None = None
        every: Node | None = None
        others = []
        for demand in demands:
            found = _PER_CATEGORY.search(str(demand.value))
            if found is None:
                others.append(plain_node(demand))
            elif found["all"]:
                every = Node(value=True, place=demand.place)
                minimum = minimum or Node(smallest, demand.place)
            elif minimum is None or int(found["number"]) > minimum.value:
                minimum = Node(int(found["number"]), _shift_right(demand.place, found.start("number")))
        return {"archetypes_per_category": minimum, "every_archetype": every, "coverage": self._list(others)}

    def _blocks(self, profile: Document) -> dict[str, Node]:
        """The definitions that the profile gives in YAML: promotion of fields, and the agent configuration schema."""
        found: dict[str, Node] = {}
        for section in profile.sections:
            for block in section.blocks:
                if not isinstance(block, Fence) or block.language not in {"yaml", "yml"}:
                    continue
                text = read_yaml(block.text, block.place.file, block.place)
                self.findings += text.findings
                for document in text.documents:
                    found |= _block_fields(document)
        return found

    def _report_unreadable(self, node: Node, what: str, remedy: str) -> None:
        self._report("prose-unreadable", node.place, f"{node.value!r} is not {what}", remedy)

    def _report(self, rule: str, place: Place, problem: str, remedy: str) -> None:
        self.findings.append(RULES[rule].finding(place, "", problem, remedy))


def _mapping(fields: Mapping[str, Node | None], place: Place) -> Node:
    return Node.mapping({name: node for name, node in fields.items() if node is not None}, place)


def _shift_right(place: Place, columns: int) -> Place:
    return Place(place.file, place.line, place.column + columns)


def _requirement(node: Node | None) -> Node | None:
    """A version requirement in machine-readable form."""
    return Node("".join(str(node.value).replace("≥", ">=").split()), node.place) if node else None


def _core(core: Node, classification: Classification) -> Node | None:
    """The core counterparts of a category; a category that only the domain has maps to nothing."""
    safety = classification is Classification.SAFETY
    if slug(str(core.value)) == "domain-specific":
        return None
    name = slug if safety else _dimension
    parts = [Node(name(str(part.value)), part.place) for part in pieces(core, "+" if safety else ",")]
    return Node.sequence(parts, core.place)


def _details(section: Section) -> Node | None:
    """The labelled items of an archetype, and those without a label as its rubric."""
    details: dict[str, Node] = {_dimension(label): value for label, value in section.labels().items()}
    for block in section.blocks:
        for item in block.items if isinstance(block, Items) else ():
            if not dict(item.labels()):
                details.setdefault("rubric", item.text)
    return Node.mapping(details, section.title.place) if details else None


def _joined_text(paragraphs: Iterable[Prose]) -> Node | None:
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    return Prose(tuple(lines)).text if lines else None


def _rows_by_name(table: Table | None) -> dict[str, tuple[Node, ...]]:
    return {slug(str(plain_node(row[0]).value)): row for row in table.rows} if table else {}


def _abbreviates(words: str, name: str) -> bool:
    """Whether `words` shorten a name: each is the beginning of the word at its position."""
    short, full = slug(words).split("-"), slug(name).split("-")
    return (
        bool(words.strip())
        and len(short) <= len(full)
        and all(long.startswith(word) for word, long in zip(short, full, strict=False))
    )


def _tolerance(profile: Document) -> Node | None:
    for section in profile.sections:
        for prose in section.prose:
            for line in prose.lines:
                found = _TOLERANCE.search(str(line.value))
                if found:
                    return Node(float(found[1]), _shift_right(line.place, found.start(1)))
    return None


def _labelled_lists(section: Section) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Lists that follow a line which is nothing but a label."""
    label = ""
    for block in section.blocks:
        if isinstance(block, Prose):
            label = next(iter(dict(block.labels())), "")
        elif isinstance(block, Items) and label and block.items:
            yield label, tuple(item.lines[0] for item in block.items)
            label = ""


def _interfaces_by_tier(profile: Document) -> Iterator[tuple[int, Node]]:
    """Every interface type that the environment must provide, with the lowest tier that requires it."""
    for section in profile.sections:
        if slug(str(section.title.value)) != "required-interface-types":
            continue
        since = 1
        for block in section.blocks:
            if isinstance(block, Prose):
                found = _FROM_TIER.search(str(block.text.value))
                since = int(found[1]) if found else 1
            elif isinstance(block, Items):
                for item in block.items:
                    yield from ((since, code) for code in list(codes(item.lines[0]))[:1])


_Bound = tuple[str, int, int]


def _counted_demands(demands: Iterable[Node], bounds: Callable[[str], Iterator[_Bound]]) -> Iterator[tuple[str, Node]]:
    """The things that a list of demands counts; a demand with an alternative sets no bound."""
    for demand in demands:
        text = str(demand.value)
        if " or " not in text:
            for what, number, offset in bounds(text):
                yield what, Node(number, _shift_right(demand.place, offset))


def _lower_bounds(environment_type: str | None, text: str) -> Iterator[_Bound]:
    """The lower bound in a demand.

    A single environment is counted under the last word of its type, such as `cluster`.
    """
    for found in _AT_LEAST.finditer(text):
        yield _counted_noun(found["what"]), int(found["number"]), found.start("number")
    for found in _BETWEEN.finditer(text):
        yield _counted_noun(found["what"]), int(found["low"]), found.start("low")
    for found in _SEVERAL.finditer(text):
        yield _counted_noun(found["what"]), int(found["number"]), found.start("number")
    word = re.escape((environment_type or "").rpartition("-")[2])
    single = rf"\bSingle (?:[\w-]{{1,40}} ){{0,4}}?(?P<what>{word})\b"
    for found in re.finditer(single, text, re.IGNORECASE) if word else ():
        yield _counted_noun(found["what"]), 1, found.start()


def _upper_bounds(text: str) -> Iterator[_Bound]:
    for found in _AT_MOST.finditer(text):
        yield _counted_noun(found["what"]), int(found["number"]), found.start("number")
    for found in _BETWEEN.finditer(text):
        yield _counted_noun(found["what"]), int(found["high"]), found.start("high")


def _counted_noun(what: str) -> str:
    """The plural noun that a phrase counts, `microservices` in `microservices with realistic topology`."""
    words = what.lower().split()
    return next((word for word in words if word.endswith("s")), f"{words[-1]}s")


def _block_fields(document: Node) -> dict[str, Node]:
    fields = {name: document.children[name] for name in ("profile_validation",) if name in document.children}
    schema = document.children.get("agent_configuration_schema")
    dimensions = schema.children.get("dimensions") if schema else None
    if dimensions is not None:
        by_id = {
            str(one.value["identifier"]): Node.mapping(
                {str(k): v for k, v in one.children.items() if k != "identifier"}, one.place
            )
            for one in dimensions.children.values()
            if isinstance(one.value, Mapping) and "identifier" in one.value
        }
        fields["configuration_schema"] = Node.mapping(by_id, dimensions.place)
    return fields
