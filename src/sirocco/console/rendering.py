"""Pages from templates: the report's own sections inside the console's frame, a page of a list at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Generic, TypeVar

from jinja2 import PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sirocco.console.addresses import address
from sirocco.console.guard import FORM_KEY, SECRET_FIELD
from sirocco.reports.html import STYLE, page_environment

_TEMPLATES = page_environment(PackageLoader("sirocco.console", "templates"))
_TYPES = {"js": "text/javascript", "css": "text/css"}
PAGE_LENGTH = 40
_HIGHEST_PAGE = 1_000_000
_NOTICES = {
    "reviewed": "Your review is signed and in the log.",
    "disputed": "The dispute is signed and in the log. It changes no verdict.",
    "saved": "The probe is saved; the console's folder has it under probes.",
}
"""What a page may be asked to say: nobody's words but ours."""
Row = TypeVar("Row")


def static_files() -> dict[str, tuple[bytes, str]]:
    """What pages load besides, by name, with its type."""
    folder = files("sirocco.console").joinpath("static")
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in _TYPES}
    found["report.css"] = STYLE.encode()
    return {name: (data, f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8") for name, data in found.items()}


_TEMPLATES.globals["address"] = address


def compile_templates() -> None:
    """Compile every template now, which takes longer than any page may; otherwise the first visitor of each waits."""
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)


@dataclass(frozen=True, slots=True)
class ListPage(Generic[Row]):
    """Some rows of a longer list, and where the others are."""

    rows: Sequence[Row]
    number: int
    total: int
    parts: tuple[str, ...]
    query: Mapping[str, Any]
    length: int = PAGE_LENGTH

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        request: Request,
        *parts: str,
        asked: Mapping[str, str] | None = None,
        length: int = PAGE_LENGTH,
    ) -> "ListPage[Row]":
        """The page of a list that a request asks for; one beyond the end is the last."""
        given = request.query_params.get("page", "1")
        wanted = int(given) if given.isascii() and given.isdecimal() and len(given) < len(str(_HIGHEST_PAGE)) else 1
        number = max(1, min(wanted, -(-len(rows) // length)))
        return cls(rows[(number - 1) * length : number * length], number, len(rows), parts, asked or {}, length)

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, -(-self.total // self.length))

    def place(self, number: int) -> str:
        """The address of another page of the same list."""
        return address(*self.parts, **self.query, page=number)


def form_of(request: Request) -> dict[str, str]:
    """The fields that were sent with a request; the guard has read and checked them."""
    return dict(request.scope.get(FORM_KEY, {}))


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page of the console, or a part of one."""
    state = request.app.state
    known = {
        "form_secret": state.access.form_secret,
        "secret_field": SECRET_FIELD,
        "is_read_only": state.access.is_read_only,
        "notice": _NOTICES.get(request.query_params.get("notice", ""), ""),
        "at": request.url.path,
    }
    return HTMLResponse(_TEMPLATES.get_template(template).render(known | values), status)
