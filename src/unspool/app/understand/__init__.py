"""Understand: what all sessions add up to, and what happened to a file."""

from unspool.app.understand import dashboard, files

ROUTES = [*dashboard.ROUTES, *files.ROUTES]
