"""The pages of docs/ and the README: links lead somewhere, commands and options exist, exit codes are those of the code."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from documented import PAGES, ROOT, documented_commands
from sirocco.cli.exit_codes import ExitCode
from sirocco.cli.main import cli

_LINK = re.compile(r"(?<!`)\[[^\]]+\]\(([^)\s]+)\)")
_FENCE = re.compile(r"```.*?```", re.DOTALL)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files and the headings that a page links to."""
    for target in _LINK.findall(_FENCE.sub("", page.read_text())):
        if not target.startswith(("http:", "https:")):
            path, _, heading = target.partition("#")
            yield (page.parent / path if path else page).resolve(), heading


def headings(page: Path) -> set[str]:
    """The names by which the headings of a page are linked to."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for file, heading in links(page):
        assert file.exists(), f"{file.relative_to(ROOT)} does not exist"
        if heading and file.suffix == ".md":
            assert heading in headings(file), f"{file.name} has no heading #{heading}"


def test_the_index_of_decisions_lists_every_record_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    for record in sorted(folder.glob("0*.md")):
        title = record.read_text().partition("\n")[0].removeprefix("# ")
        assert title.startswith(f"{int(record.name[:4])}. "), f"{record.name} has another number"
        assert f"- [{title}]({record.name})\n" in index, (
            f"docs/decisions/README.md does not list {record.name} by its title"
        )


@pytest.mark.parametrize(("page", "command"), sorted(set(documented_commands())))
def test_every_command_of_a_page_exists_with_its_options(page: str, command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    words = words[: words.index("--")] if "--" in words else words
    found: click.Command = cli
    context = click.Context(cli)
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        below = found.get_command(context, words[0])
        if below is None:  # `sirocco claim RUN` is short for `sirocco claim make RUN`
            below, words = found.get_command(context, "make"), ["make", *words]
        assert below is not None, f"there is no command {command}"
        found, words = below, words[1:]
    names = {name: one for one in found.params for name in (*one.opts, *one.secondary_opts)}
    accepted = {*names, "--help", "--version"}
    if found.name == "attack":  # it takes the options of `sirocco run` too
        accepted |= {name for one in cli.get_command(context, "run").params for name in one.opts}
    for index, word in enumerate(words):
        if word.startswith("--"):
            name, _, value = word.partition("=")
            assert name in accepted, f"{found.name} has no option {name}"
            value = value or (words[index + 1] if index + 1 < len(words) else "")
            if isinstance(kind := getattr(names.get(name), "type", None), click.Choice):
                assert value in kind.choices, f"{value} is not a value of {name}"


def test_the_readme_has_the_exit_codes_of_the_program() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert rows == {str(int(code)): code.meaning for code in ExitCode}


def test_no_help_shows_a_mark_that_is_meant_for_the_program() -> None:
    def texts(command: click.Command) -> Iterator[str]:
        context = click.Context(command)
        yield command.get_help(context)
        for name in command.list_commands(context) if isinstance(command, click.Group) else ():
            yield from texts(command.get_command(context, name))

    assert not [text for text in texts(cli) if "\\b" in text or "\f" in text]
