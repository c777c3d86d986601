"""Nodes as HTML: fragments for pages to frame. Only this package and the templates of pages make markup."""

from unspool.export.html.escape import content, escape, ident
from unspool.export.html.links import commit_card, commit_link, file_link
from unspool.export.html.nodes import fragment, grouped
from unspool.export.html.paint import Paint
from unspool.export.html.prose import prose
from unspool.export.html.times import when

__all__ = [
    "Paint",
    "commit_card",
    "commit_link",
    "content",
    "escape",
    "file_link",
    "fragment",
    "grouped",
    "ident",
    "prose",
    "when",
]
