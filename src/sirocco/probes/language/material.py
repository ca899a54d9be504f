"""Material: the data that texts are worded from, read from files, merged and checked; there is no wording in code.

A file holds one language, or a part of one. Files of the same language are merged in order: the entries of a later file
are added to the earlier ones, or replace them under a key that ends in `!`.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from sirocco.errors import ConfigError
from sirocco.oasis.canonical import digest
from sirocco.oasis.noun import Noun
from sirocco.probes.language.inflection import gerund, participle
from sirocco.probes.language.template import Template, TemplateError, read_template, symbols

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]")
_REPLACING = "!"
_SYMBOL = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_HEAVIEST = 50
Way = Mapping[str, str]
"""One way to word a deed: templates by grammatical form (`do`, `doing`, `inf`, `subject`, `done`, `nominal`)."""

SLOTS = frozenset({
    "about", "amount", "author", "body", "count", "do", "doing", "done", "field", "first", "fold", "hour", "inf",
    "inner", "item", "key", "kind", "kinds", "labels", "lines", "moment", "name", "nominal", "object", "operation",
    "place", "reason", "recipient", "request", "role", "source", "statement", "step", "steps", "subject", "there",
    "type", "value",
})  # fmt: skip
"""The slots that rendering fills in; a rule cannot have one of these names."""


class WeightedEntry(Noun):
    """An alternative with a weight: it is drawn as often as that many others."""

    text: str
    weight: int = Field(ge=1, le=_HEAVIEST)


class MaterialFile(Noun):
    """A file of material, as written."""

    language: str = Field(pattern=r"^[a-z]{2}$")
    replaces: tuple[Literal["senses", "kinds", "trades"], ...] = ()
    """Sections in which this file replaces all entries of earlier files."""
    registers: Mapping[str, str | None] = Field(default_factory=dict)
    """Registers, each with the more general one whose rules it shares."""
    rules: Mapping[str, tuple[str | WeightedEntry, ...]] = Field(default_factory=dict)
    """Alternatives by symbol; `symbol@register` adds some for one register."""
    senses: Mapping[str, tuple[str | Mapping[str, str], ...]] = Field(default_factory=dict)
    """Ways to word each deed: `verb | object | rest | noun phrase` in English, or a template for each form."""
    kinds: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Words for things of a kind, the proper one first."""
    trades: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)
    """Trades, each with the words that its texts use."""


@dataclass(frozen=True)
class Tongue:
    """One language of the material, ready to be drawn from."""

    registers: Mapping[str, str | None]
    rules: Mapping[str, tuple[str, ...]]
    senses: Mapping[str, tuple[Way, ...]]
    kinds: Mapping[str, tuple[str, ...]]
    trades: Mapping[str, Mapping[str, tuple[str, ...]]]
    _found: dict[tuple[str, str], tuple[Template, ...]] = field(default_factory=dict, repr=False, compare=False)

    def alternatives(self, symbol: str, register: str) -> tuple[Template, ...]:
        """The alternatives of a rule in a register: its own, those of more general registers, and those for all."""
        key = (symbol, register)
        if key not in self._found:
            self._found[key] = tuple(read_template(text) for text in self._texts(symbol, register))
        return self._found[key]

    def settings(self, symbol: str, register: str) -> tuple[str, ...]:
        """The settings in a rule that is not a wording: those for the register itself, or the next more general one."""
        return next((texts for name in self._variants(symbol, register) if (texts := self.rules.get(name))), ())

    def _texts(self, symbol: str, register: str) -> Iterator[str]:
        for name in self._variants(symbol, register):
            yield from self.rules.get(name, ())

    def _variants(self, symbol: str, register: str) -> Iterator[str]:
        """The rules for a symbol from the register itself to the most general one."""
        general: str | None = register
        while general is not None:
            yield f"{symbol}@{general}"
            general = self.registers.get(general)
        yield symbol

    def ways(self, sense: str, kind: str) -> tuple[Way, ...]:
        """The ways to word a deed of a sense on things of a kind: those for any thing, and those for that kind only.

        A sense that refines another, as `scale.zero` refines `scale`, uses the ways of that one if it has none itself.
        """
        general = self.senses.get(sense) or self.senses.get(sense.partition(".")[0], ())
        return (*general, *self.senses.get(f"{sense}.{kind}", ()))

    def group_of(self, sense: str) -> str:
        """The group of deeds whose frames are used to ask for a deed; empty for the general ones."""
        return self._groups.get(sense, "")

    @cached_property
    def _groups(self) -> Mapping[str, str]:
        return {sense: name for name in self.rule_names("group.") for sense in self.rules[f"group.{name}"]}

    def rule_names(self, prefix: str) -> tuple[str, ...]:
        """The parts after `prefix` of all rules that begin with it, in order, each once."""
        found = (name.partition("@")[0].removeprefix(prefix) for name in self.rules if name.startswith(prefix))
        return tuple(dict.fromkeys(found))


class Material:
    """Everything that texts are worded from, by language; loaded on first use."""

    def __init__(self, read: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
        self._read = read

    @cached_property
    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """The data of each language."""
        return self._read()

    def digest(self) -> str:
        """Identifies this material: equal digests give equal words for equal dice (AV-10)."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest(self.documents)

    @cached_property
    def english_words(self) -> frozenset[str]:
        """Every word of its English, in lower case."""
        document = self.documents.get("en", {})
        texts = (_SYMBOL.sub(" ", text.lower()) for text in _texts_in(list(document.values())))
        return frozenset(word for text in texts for word in _WORD.findall(text))

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have any material."""
        return tuple(self.documents)

    def tongue(self, language: str) -> Tongue:
        """One language."""
        return self._tongues[language]

    @cached_property
    def _tongues(self) -> Mapping[str, Tongue]:
        return {language: _tongue(document) for language, document in self.documents.items()}

    def with_files(self, files: Iterable[MaterialFile]) -> "Material":
        """This material with the additions and replacements of the files."""
        more = list(files)
        return Material(lambda: _with_files(self.documents, more))


def read_material(*folders: Path) -> Material:
    """The material in the files of folders, in the order of folders and of names."""
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    return Material(
        lambda: _with_files({}, [parse_material(file.read_text(encoding="utf-8"), file.name) for file in files])
    )


def public_material(*folders: Path) -> Material:
    """The material that comes with the project, with that of a domain's folders."""
    return read_material(Path(__file__).parent / "material", *folders)


def parse_material(text: str, where: str) -> MaterialFile:
    """Parse a file of material; raise ConfigError with the problem and its place."""
    try:
        document = yaml.load(text, _LOADER)  # noqa: S506 - the safe loader, in C where there is one
        parsed = MaterialFile.model_validate(document)
    except yaml.YAMLError as error:
        raise ConfigError(where, f"it is not YAML: {error}", "see docs/material.md for the format") from error
    except ValidationError as error:
        found = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
        raise ConfigError(where, "; ".join(found), "see docs/material.md for the format") from None
    return parsed


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            yield from _texts_in(list(value.values()))
        case list() | tuple():
            for part in value:
                yield from _texts_in(part)


def _with_files(
    documents: Mapping[str, Mapping[str, Any]], files: Iterable[MaterialFile]
) -> Mapping[str, Mapping[str, Any]]:
    result = dict(documents)
    for file in files:
        own = file.document()
        language, replaced = own.pop("language"), own.pop("replaces", ())
        kept = {name: part for name, part in result.get(language, {}).items() if name not in replaced}
        result[language] = _merged(kept, own)
    return result


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two documents of a language, merged; lists are appended unless their key says that it replaces."""
    result = dict(one)
    for key, value in other.items():
        name = key.removesuffix(_REPLACING)
        if isinstance(value, Mapping):
            result[name] = _merged(result.get(name, {}) if name == key else {}, value)
        elif isinstance(value, list | tuple) and name == key:
            result[name] = [*result.get(name, ()), *value]
        else:
            result[name] = value
    return result


def _tongue(document: Mapping[str, Any]) -> Tongue:
    rules = {name: tuple(_texts(entries)) for name, entries in document.get("rules", {}).items()}
    senses = {name: tuple(map(_way, entries)) for name, entries in document.get("senses", {}).items()}
    kinds = {name: tuple(words) for name, words in document.get("kinds", {}).items()}
    trades = {
        name: {topic: tuple(words) for topic, words in topics.items()}
        for name, topics in document.get("trades", {}).items()
    }
    return Tongue(document.get("registers", {}), rules, senses, kinds, trades)


def _texts(entries: Sequence[str | Mapping[str, Any]]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from (entry["text"],) * entry["weight"]


def _way(entry: str | Mapping[str, str]) -> Way:
    """The forms of one way to word a deed; an English one is written as verb, object, rest and noun phrase."""
    if not isinstance(entry, str):
        return entry
    verb, thing, rest, nominal = (*(part.strip() for part in entry.split("|")), "", "", "")[:4]
    head, _, particle = verb.partition(" ")

    def joined(*parts: str) -> str:
        return " ".join(part for part in parts if part)

    forms = {
        "do": joined(head, particle, thing, rest),
        "doing": joined(gerund(head), particle, thing, rest),
    }
    passive = {"subject": thing, "done": joined(participle(head), particle, rest)} if thing else {}
    return {**forms, **passive, **({"nominal": nominal} if nominal else {})}


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake in the material that would break rendering."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def material_faults(material: Material) -> list[Fault]:
    """All mistakes in a material: templates that cannot be parsed, symbols without a rule, endless rules."""
    return [fault for language in material.languages for fault in _tongue_faults(language, material.tongue(language))]


def strange_names(base: Material, whole: Material, files: Iterable[MaterialFile]) -> list[Fault]:
    """Names in files that are never drawn, because neither the material that they extend nor a template has them.

    Otherwise, a misspelt name would silently extend a rule that nothing uses.
    """
    return [fault for file in files if file.language in base.languages for fault in _strange(base, whole, file)]


def _strange(base: Material, whole: Material, file: MaterialFile) -> Iterator[Fault]:
    here, tongue = base.tongue(file.language), whole.tongue(file.language)
    referred = {symbol for _, text in _all_templates(tongue) for symbol in symbols(read_template(text))}
    rules = {name.partition("@")[0] for name in here.rules}
    topics = {topic for words in here.trades.values() for topic in words}
    named = [
        *(("rules", name.partition("@")[0], rules | referred) for name in file.rules),
        *(("senses", name.partition(".")[0], here.senses) for name in file.senses),
        *(("registers", name.partition("@")[2], tongue.registers) for name in file.rules if "@" in name),
        *((f"trades.{trade}", topic, topics) for trade, words in file.trades.items() for topic in words),
    ]
    for where, given, known in named:
        name = given.removesuffix(_REPLACING)
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"; is {near[0]!r} meant?" if near else ""
            yield Fault(f"{file.language}: {where}", f"nothing uses {name!r}{remedy}")
    for trade, words in file.trades.items():
        # A trade may leave out what a rule also provides.
        if missing := sorted(topics - words.keys() - rules):
            yield Fault(f"{file.language}: trades.{trade}", f"it lacks {', '.join(missing)}")


def _tongue_faults(language: str, tongue: Tongue) -> Iterator[Fault]:
    known = {name.partition("@")[0] for name in tongue.rules} | SLOTS
    known |= {topic for topics in tongue.trades.values() for topic in topics}
    for name, text in _all_templates(tongue):
        where = f"{language}: {name}"
        if found := _UNPRINTABLE.search(text):
            yield Fault(where, f"the character {found.group()!r} cannot be part of a text")
            continue
        try:
            missing = sorted(symbols(read_template(text)) - known)
        except TemplateError as error:
            yield Fault(where, str(error))
            continue
        yield from (Fault(where, f"nothing is called {symbol!r}, in {text!r}") for symbol in missing)
    yield from (
        Fault(f"{language}: {name}", "it has the name of a slot") for name in sorted(tongue.rules.keys() & SLOTS)
    )
    for rule in tongue.rules:
        if _is_endless(tongue, rule.partition("@")[0]):
            yield Fault(f"{language}: {rule}", "the rule leads back to itself")


def _all_templates(tongue: Tongue) -> Iterator[tuple[str, str]]:
    yield from ((f"rules.{name}", text) for name, texts in tongue.rules.items() for text in texts)
    yield from (
        (f"senses.{name}", form) for name, ways in tongue.senses.items() for way in ways for form in way.values()
    )
    yield from ((f"kinds.{name}", word) for name, words in tongue.kinds.items() for word in words)
    for trade, topics in tongue.trades.items():
        yield from ((f"trades.{trade}.{topic}", word) for topic, words in topics.items() for word in words)


def _is_endless(tongue: Tongue, start: str) -> bool:
    """Whether a rule can lead back to itself."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for texts in (tongue.rules[name] for name in _variants(tongue, waiting.pop())):
            for text in texts:
                try:
                    found = symbols(read_template(text))
                except TemplateError:
                    continue
                if start in found:
                    return True
                waiting += found - seen
                seen |= found
    return False


def _variants(tongue: Tongue, symbol: str) -> list[str]:
    return [name for name in tongue.rules if name.partition("@")[0] == symbol]
