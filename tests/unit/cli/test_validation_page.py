"""docs/validation.md, kept true."""

from pathlib import Path

from commands import sirocco
from sirocco.cli.validate import rules_table
from sirocco.profiles.rules import RULES

PAGE = Path(__file__).parents[3] / "docs" / "validation.md"
BEGIN, END = "<!-- rules: the output of `sirocco validate --rules` -->\n", "<!-- end of rules -->\n"


def test_the_page_lists_the_rules_as_they_are():
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    table, end, _ = rest.partition(END)
    assert (bool(before), begin, end) == (True, BEGIN, END)
    assert table.strip() == rules_table().strip(), "put the output of `sirocco validate --rules` between the marks"


def test_the_command_prints_the_table_that_the_page_holds():
    done = sirocco("validate", "--rules")
    assert (done.code, done.stdout) == (0, rules_table())
    assert all(f"| `{rule}` |" in done.stdout for rule in RULES)
