"""Browsing: the first page, projects, sessions, and the page of a first run."""

from starlette.routing import Route

from unspool.app.browse.first import demo, leave, unless_empty
from unspool.app.browse.hiding import hide
from unspool.app.browse.home import home
from unspool.app.browse.projects import project, projects
from unspool.app.browse.sessions import sessions

__all__ = ["ROUTES"]

ROUTES = [
    Route("/", unless_empty(home), methods=["GET"]),
    Route("/sessions", unless_empty(sessions), methods=["GET"]),
    Route("/projects", unless_empty(projects), methods=["GET"]),
    Route("/projects/{slug}", project, methods=["GET"]),
    Route("/projects/{slug}/hide", hide, methods=["POST"]),
    Route("/demo", demo, methods=["POST"]),
    Route("/demo/leave", leave, methods=["POST"]),
]
