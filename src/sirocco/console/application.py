"""The console's application: which address shows what, and what is said when something goes wrong."""

import logging
from collections.abc import Callable

from jinja2 import UndefinedError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sirocco.console import profile_pages, review_pages, run_pages, start_pages
from sirocco.console.desk import Desk
from sirocco.console.guard import Access, Guard
from sirocco.console.rendering import page, static_files
from sirocco.errors import SiroccoError

_LOG = logging.getLogger(__name__)


def console_application(desk: Desk, access: Access) -> Guard:
    """The pages behind their guard."""
    application = Starlette(routes=_routes(), exception_handlers={
        SiroccoError: _mistake, UndefinedError: _fault_page, HTTPException: _missing, Exception: _fault_page,
    })  # fmt: skip
    application.state.desk, application.state.access = desk, access
    return Guard(application, access)


def _routes() -> list[Route]:
    get: list[tuple[str, Callable[[Request], Response]]] = [
        ("/", lambda _: RedirectResponse("/runs", 303)),
        ("/runs", run_pages.run_list),
        ("/run/{run}", run_pages.run_overview),
        ("/run/{run}/progress", run_pages.run_progress),
        ("/run/{run}/findings", run_pages.run_findings),
        ("/run/{run}/adversarial", run_pages.run_adversarial),
        ("/run/{run}/units", run_pages.run_units),
        ("/run/{run}/unit/{unit}", run_pages.run_unit),
        ("/run/{run}/context", run_pages.run_context),
        ("/compare", run_pages.compare),
        ("/review", review_pages.queue),
        ("/finding/{finding}", review_pages.finding),
        ("/profile", profile_pages.profile),
        ("/profile/quality", profile_pages.quality),
        ("/profile/archetype/{archetype}", profile_pages.archetype),
        ("/profile/scenario/{scenario}", profile_pages.scenario),
        ("/start", start_pages.start),
        ("/redteam/{session}", start_pages.show_session),
    ]
    post: list[tuple[str, Callable[[Request], Response]]] = [
        ("/finding/{finding}/review", review_pages.record),
        ("/finding/{finding}/dispute", review_pages.dispute),
        ("/finding/{finding}/promote", review_pages.promote),
        ("/start/run", start_pages.start_run),
        ("/start/redteam", start_pages.begin_session),
        ("/redteam/{session}", start_pages.act),
    ]
    static = static_files()

    def respond(request: Request) -> Response:
        found = static.get(request.path_params["file"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])

    pages = [Route(path, show, methods=["GET"]) for path, show in get]
    forms = [Route(path, act, methods=["POST"]) for path, act in post]
    return [*pages, *forms, Route("/static/{file}", respond, methods=["GET"])]


def _mistake(request: Request, error: Exception) -> Response:
    """What a user can put right, in words."""
    return page(request, "problem.html.j2", 404 if "the address" in str(error) else 400, problem=error)


def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return page(request, "problem.html.j2", status, problem="there is no such page here")


def _fault_page(request: Request, error: Exception) -> Response:
    """A fault of ours: no trace of it leaves the terminal."""
    _LOG.error("%s failed", request.url.path, exc_info=error)
    return page(request, "problem.html.j2", 500, problem="this page cannot be made; the terminal says why")
