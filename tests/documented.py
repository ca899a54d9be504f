"""The `sirocco` commands that the README and the pages of docs/ show to their readers."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_COMMAND = re.compile(r"^(?:\$ |    )(sirocco .*?)(?:  +#.*)?$", re.MULTILINE)


def documented_commands() -> Iterator[tuple[str, str]]:
    """Each page's name with each command on it, in the page's order, without what a shell would do with the output."""
    for page in PAGES:
        if "decisions" not in page.parts and page.name != "CHANGELOG.md":
            text = page.read_text().replace("\\\n", " ")
            for command in _COMMAND.findall(text):
                yield page.name, re.split(r" (?:\||>|>>|;|&&|&)(?: |$)|; ", command)[0].rstrip(" &")
