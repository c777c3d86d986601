"""The review before a session is shared: what was found, what is left out, the exact result, and what is made of it."""

from unspool.app.sharing.routes import ROUTES

__all__ = ["ROUTES"]
