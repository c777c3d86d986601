"""Marks: stars, tags, names and notes of sessions, hidden projects and saved filters."""

from starlette.routing import Route

from unspool.app.marks.desk import marks_of, own_titles
from unspool.app.marks.pages import change, form, save
from unspool.app.marks.store import Mark, Marks, Said, Saved

__all__ = ["ROUTES", "Mark", "Marks", "Said", "Saved", "marks_of", "own_titles"]

ROUTES = [
    Route("/marks/{key}", form, methods=["GET"]),
    Route("/marks/{key}", change, methods=["POST"]),
    Route("/saved", save, methods=["POST"]),
]
