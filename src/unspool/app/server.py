"""The app: every route of every part, one after the other."""

from importlib import import_module
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from unspool.app.desk import Desk
from unspool.app.trouble import HANDLERS

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

PARTS = (
    "assets",
    "banner",
    "browse",
    "marks.pages",
    "settings",
    "api",
    "find",
    "understand",
    "live",
    "sharing",
    "reading",
)
"""Modules of this package with ROUTES, in the order they are asked. Adding a part is a module and a name here."""


def create(desk: Desk) -> Starlette:
    """The app on a desk. Whoever serves it puts the guard around it."""
    routes: list[BaseRoute] = [route for part in PARTS for route in import_module(f"unspool.app.{part}").ROUTES]
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    app.state.desk = desk
    app.state.own_desk = None  # the person's own, while the demo is shown
    app.state.background = None
    app.state.read_only = False
    return app
