"""Marks: stars, tags, names and notes of sessions, hidden projects and saved filters."""

from unspool.app.marks.store import Mark, Marks, Said, Saved

__all__ = ["Mark", "Marks", "Said", "Saved"]
