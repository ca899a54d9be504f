"""How many small breaks in the evaluator its unit tests notice: a seeded sample of mutants, each run against its tests.

The evaluator is `sirocco/evaluation` and what the Kubernetes domain adds to it. cosmic-ray says what can be broken and
how. A mutant is judged by the unit tests that reach the function it is in, seen once beforehand; one outside every
function by those that reach its module. The file of tests that is nearest to it comes first, the others if it lives on.
Everything happens on a copy, one mutant at a time. docs/decisions/0020-mutants.md says what is left out and why.
Usage: python tests/mutants/run.py [--seed 6] [--sample 320] [--module GLOB] [--notes FILE]
"""

import argparse
import ast
import gc
import importlib
import importlib.abc
import importlib.util
import inspect
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.machinery import ModuleSpec
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TARGETS = (Path("src/sirocco/evaluation"), Path("src/sirocco/domains/kubernetes/evaluation"))
TESTS = (Path("tests/unit/evaluation"), Path("tests/unit/domains/kubernetes"))
TOOLS = Path(".cache/mutants")
"""Where `make mutants` puts cosmic-ray, whose dependencies must not mix with ours."""
LEFT_OUT = ("NoOp", "Variable", "Keyword", "_Eq_Is", "_NotEq_IsNot", "_Is_Eq", "_IsNot_NotEq")
"""Operators that change nothing, need arguments, or give code that does not compile; and those that take sameness for
equality, which for None, members of enumerations and most texts it is."""
OLDER = ("sirocco.errors", "sirocco.oasis")
"""What cannot have imported the evaluator."""
LEAST = 3
"""So many mutants of each module are in the sample, if it has as many."""
EXAMPLES = 20
"""Generated cases per property: fewer than in the suite, which can only let a mutant live that the suite would kill."""
LONGEST = 180
"""Seconds after which a mutant that does not end is taken for noticed."""
KILLED, STUCK, BROKEN, ALIVE, UNREACHED = "killed", "stuck", "broken", "alive", "unreached"
_HEEDLESS = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""What is loaded before the first mutant is loaded for all of them, and pytest would have liked to be the first."""
_EXITS = {0: ALIVE, 1: KILLED, 9: STUCK}


@dataclass(frozen=True)
class Mutant:
    """One small break: an operator of cosmic-ray at one of the places where it applies."""

    file: str
    operator: str
    occurrence: int
    line: int
    column: int

    @property
    def module(self) -> str:
        """The module by its dotted name."""
        return ".".join(Path(self.file).with_suffix("").parts[1:])


@dataclass(frozen=True)
class Notes:
    """What was seen of the tests before anything was broken."""

    reached: Mapping[str, Sequence[str]]
    """The tests that reach a function, by `file:first line`, or a module, by its file."""
    took: Mapping[str, float]
    red: Sequence[str]


def mutants_of(file: Path, root: Path) -> Iterator[Mutant]:
    """Everything that can be broken in a file; what means nothing to the program left alone."""
    plugins, trees = importlib.import_module("cosmic_ray.plugins"), importlib.import_module("cosmic_ray.ast")
    source = file.read_text()
    ignored = list(_inert(ast.parse(source)))
    nodes = list(trees.ast_nodes(trees.get_ast(source)))
    for name in sorted(plugins.operator_names()):
        if any(part in name for part in LEFT_OUT):
            continue
        operator = plugins.get_operator(name)()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for number, (start, _) in enumerate(places):
            if not any(first <= start < last for first, last in ignored):
                yield Mutant(str(file.relative_to(root)), name, number, *start)


def _inert(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr):
                yield (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)
        # Whether a value could be changed makes no difference where nobody changes it.
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dataclass":
            yield (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        # Aliases of types are as good as annotations.
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript) and _is_alias(node):
            yield (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _is_alias(node: ast.Assign) -> bool:
    return all(isinstance(name, ast.Name) and name.id[:1].isupper() and not name.id.isupper() for name in node.targets)


def source_of(mutant: Mutant, root: Path) -> str:
    """The module with the break in it."""
    mutating, plugins = importlib.import_module("cosmic_ray.mutating"), importlib.import_module("cosmic_ray.plugins")
    operator, text = plugins.get_operator(mutant.operator)(), (root / mutant.file).read_text()
    return str(mutating.mutate_code(text, operator, mutant.occurrence))


def is_program(source: str) -> bool:
    """Whether a source compiles; a star that unpacks is taken for a product, and what comes of that is nothing."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(source, "mutant", "exec")
        except SyntaxError:
            return False
    return True


def sample_of(mutants: Sequence[Mutant], root: Path, size: int, seed: int) -> list[Mutant]:
    """A sample that has some of every module; the rest is drawn from all alike."""
    drawn = random.Random(seed).sample(mutants, len(mutants))
    number: Counter[str] = Counter()
    first: list[Mutant] = []
    rest: list[Mutant] = []
    for one in drawn:
        number[one.file] += 1
        (first if number[one.file] <= LEAST else rest).append(one)
    sound = (one for one in (*first, *rest) if is_program(source_of(one, root)))
    return list(islice(sound, size))


class _Source(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module a source of its own, whatever is on the disk."""

    def __init__(self, module: str, file: Path, source: str) -> None:
        self._module, self._file, self._source = module, file, source

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self, origin=str(self._file)) if name == self._module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, str(self._file), "exec"), vars(module))


class _Watch:
    """Notes which functions of the target each test reaches, and how long it takes."""

    def __init__(self, targets: tuple[str, ...]) -> None:
        self._targets = targets
        self.reached: dict[str, set[str]] = {}
        self.took: dict[str, float] = {}
        self.red: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.red.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        seen: set[CodeType] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                seen.add(frame.f_code)

        began = time.perf_counter()
        sys.setprofile(note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self.took[item.nodeid] = time.perf_counter() - began
            for code in seen:
                if code.co_filename.startswith(self._targets):
                    file = os.path.relpath(code.co_filename)
                    for key in (file, f"{file}:{code.co_firstlineno}"):
                        self.reached.setdefault(key, set()).add(item.nodeid)


class _Only:
    """Keeps the named tests, in the order of their names in the list."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: number for number, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (one for one in items if one.nodeid in self._places), key=lambda one: self._places[one.nodeid]
        )


def _pytest(arguments: Iterable[str], *plugins: object) -> int:
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        derandomize=True,
        max_examples=EXAMPLES,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    return int(
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no", *_HEEDLESS, *arguments], plugins)
    )


def _in_a_child(work: Callable[[], int]) -> int:
    """The exit code of some work that another process does, so that nothing of it stays behind."""
    child = os.fork()
    if not child:
        code = 3
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            signal.signal(signal.SIGALRM, lambda *_: os._exit(9))
            signal.alarm(LONGEST)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def watched(copy: Path) -> Notes:
    """Which tests reach what in the untouched copy, and how long each takes; those that are red by themselves not."""
    kept = copy / "notes.json"

    def work() -> int:
        signal.alarm(0)
        watch = _Watch(tuple(f"{copy / target}/" for target in TARGETS))
        code = _pytest(map(str, TESTS), watch)
        reached = {key: sorted(tests - watch.red) for key, tests in watch.reached.items()}
        kept.write_text(json.dumps(asdict(Notes(reached, watch.took, sorted(watch.red)))))
        return code

    if (code := _in_a_child(work)) not in _EXITS:
        sys.exit(f"the tests cannot be run (pytest exit {code})")
    return Notes(**json.loads(kept.read_text()))


def tests_for(mutant: Mutant, copy: Path, notes: Notes) -> tuple[list[str], list[str]]:
    """All tests of the file nearest to a mutant, and those of others that reach what it breaks; quick ones first.

    What a file of tests computes while it is loaded no test is seen to reach, so of the nearest one all count.
    """
    lines = [
        min([node.lineno, *(one.lineno for one in node.decorator_list)])
        for node in ast.walk(ast.parse((copy / mutant.file).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body[0].lineno <= mutant.line <= (node.end_lineno or 0)
    ]
    found = {test for line in lines for test in notes.reached.get(f"{mutant.file}:{line}", ())}
    reaching = found or set(notes.reached.get(mutant.file, ()))
    numbers = Counter(_file_of(test) for test in reaching)
    namesakes = [file for file in _namesakes(Path(mutant.file)) if any(_file_of(test) == file for test in notes.took)]
    nearest = next(iter(namesakes), None) or max(sorted(numbers), key=lambda file: numbers[file], default="")
    near = {test for test in notes.took if _file_of(test) == nearest} - set(notes.red)
    return sorted(near, key=lambda test: notes.took[test]), sorted(reaching - near, key=lambda test: notes.took[test])


def _namesakes(file: Path) -> Iterator[str]:
    """Where the tests of a module are, if a file of them is named after it."""
    inside = next(file.relative_to(target) for target in TARGETS if file.is_relative_to(target))
    yield from (str(tests / inside.with_name(f"test_{file.name}")) for tests in TESTS)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def judged(mutant: Mutant, copy: Path, notes: Notes) -> str:
    """What the tests that reach it make of one mutant: the nearest file, and the others if it lives on."""
    parts = [part for part in tests_for(mutant, copy, notes) if part]
    file, source = copy / mutant.file, source_of(mutant, copy)
    original, mutated = (compile(text, str(file), "exec") for text in (file.read_text(), source))
    changed = _changed_functions(original, mutated)
    found = UNREACHED
    for tests in parts:
        found = _tried(tests, changed, _Source(mutant.module, file, source))
        if found != ALIVE:
            break
    return found


def _tried(tests: Sequence[str], changed: Mapping[CodeType, CodeType] | None, source: _Source) -> str:
    def work() -> int:
        if changed is None:
            _forget(lambda name: name.startswith("sirocco.") and not name.startswith(OLDER))
            sys.meta_path.insert(0, source)
        else:
            _replace_code(changed)
        helpers = {path.stem for path in Path("tests").glob("*.py")}
        _forget(lambda name: name.partition(".")[0] in {"tests", "conftest", *helpers})
        return _pytest(["-x", *dict.fromkeys(map(_file_of, tests))], _Only(tests))

    return _EXITS.get(_in_a_child(work), BROKEN)


def _forget(is_meant: Callable[[str], bool]) -> None:
    """Forget modules, so that they are loaded again and see what was broken."""
    for name in [name for name in sys.modules if is_meant(name)]:
        del sys.modules[name]


def _changed_functions(original: CodeType, mutated: CodeType) -> dict[CodeType, CodeType] | None:
    """The code of functions that differs, old to new; None when what runs on import differs and has to run again."""
    if original.co_flags & inspect.CO_OPTIMIZED:
        return {} if original == mutated else {original: mutated}
    inside = [[const for const in code.co_consts if isinstance(const, CodeType)] for code in (original, mutated)]
    if len(inside[0]) != len(inside[1]) or _without_inside(original) != _without_inside(mutated):
        return None
    found: dict[CodeType, CodeType] = {}
    for old, new in zip(*inside, strict=True):
        changed = _changed_functions(old, new)
        if changed is None or old.co_qualname != new.co_qualname or old.co_freevars != new.co_freevars:
            return None
        found |= changed
    return found


def _without_inside(code: CodeType) -> CodeType:
    return code.replace(co_consts=tuple(None if isinstance(one, CodeType) else one for one in code.co_consts))


def _replace_code(changed: Mapping[CodeType, CodeType]) -> None:
    """Give every function that there is of the changed ones its new code: much quicker than to load all again."""
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__ in changed:
            one.__code__ = changed[one.__code__]


def main() -> int:
    """Draw, judge and count."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=6)
    options.add_argument("--sample", type=int, default=320)
    options.add_argument("--module", default="*", help="only modules whose path goes by this glob")
    options.add_argument(
        "--notes", type=Path, help="keep here which tests reach what, for more samples of the same files"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / ROOT.name
        ignored = shutil.ignore_patterns(
            ".git", ".venv", ".cache", ".*_cache", ".hypothesis", "__pycache__", "runs", "dist"
        )
        shutil.copytree(ROOT, copy, ignore=ignored)
        if (ROOT.parent / "shared").is_dir():
            (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        os.chdir(copy)
        os.environ["HYPOTHESIS_PROFILE"] = "mutants"
        sys.path[:] = [str(copy / "src"), *sys.path, str(ROOT / TOOLS)]
        sources = (file for target in TARGETS for file in sorted((copy / target).rglob("*.py")))
        files = [file for file in sources if fnmatch(str(file), f"*{chosen.module}*")]
        every = [one for file in files for one in mutants_of(file, copy)]
        sample = sample_of(every, copy, chosen.sample, chosen.seed)
        print(f"{len(sample)} of {len(every)} mutants, seed {chosen.seed}", flush=True)
        kept = chosen.notes is not None and chosen.notes.exists()
        notes = Notes(**json.loads(chosen.notes.read_text())) if kept else watched(copy)
        if chosen.notes is not None and not kept:
            chosen.notes.write_text(json.dumps(asdict(notes)))
        for test in notes.red:
            print(f"red before anything is broken, so it judges nothing: {test}")
        _pytest(["--collect-only", "-qqq", *map(str, TESTS)])
        counts: Counter[str] = Counter()
        for one in sample:
            result = judged(one, copy, notes)
            counts[result] += 1
            if result in {ALIVE, UNREACHED}:
                line = (copy / one.file).read_text().splitlines()[one.line - 1].strip()
                place = f"{one.file}:{one.line}:{one.column}"
                print(f"{counts.total():4} {result} {place} {one.operator} #{one.occurrence} [{line}]", flush=True)
    killed = len(sample) - counts[ALIVE] - counts[UNREACHED]
    print(f"{killed} of {len(sample)} noticed ({100 * killed / len(sample):.1f} %): {dict(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
