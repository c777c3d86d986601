"""Sessions that go on: their pages grow as they are written, and a board shows all of them."""

from unspool.app.live.routes import ROUTES

__all__ = ["ROUTES"]
