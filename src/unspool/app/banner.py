"""`/banner`: what stands above every page, alone, for the script that keeps it up to date."""

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool.app.render import banner


def alone(request: Request) -> HTMLResponse:
    """The banner as it is now."""
    return HTMLResponse(banner(request))


ROUTES = [Route("/banner", alone)]
