"""Sessions to read: the site's own pages, made when they are asked for, and what only a server can add to them."""

from unspool.app.reading.routes import ROUTES

__all__ = ["ROUTES"]
