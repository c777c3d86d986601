"""Understand: what all sessions add up to, what filled a window, and what happened to a file."""

from unspool.app.understand import dashboard, files, stood, window

ROUTES = [*dashboard.ROUTES, *files.ROUTES, *stood.ROUTES, *window.ROUTES]
