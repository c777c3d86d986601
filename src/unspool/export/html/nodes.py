"""Nodes as markup: one string a node, safe whatever the log holds, with no script, no style and no request in it."""

from collections.abc import Iterable
from itertools import groupby
from typing import assert_never

from unspool.doc import (
    Checklist,
    Code,
    Diff,
    Fields,
    Fold,
    Heading,
    Link,
    Node,
    Picture,
    Prose,
    Raw,
    Table,
    Terminal,
)
from unspool.export.html.data import checklist, fields, table
from unspool.export.html.diff import diff
from unspool.export.html.folds import fold, is_conversation, is_row
from unspool.export.html.links import named, session_link
from unspool.export.html.paint import Paint
from unspool.export.html.panel import code, raw
from unspool.export.html.pictures import picture
from unspool.export.html.prose import prose
from unspool.export.html.terminal import terminal
from unspool.export.html.titles import heading


def fragment(nodes: Iterable[Node], paint: Paint) -> str:
    """The nodes as HTML, one after the other."""
    return "".join([_node(node, paint) for node in nodes])


def grouped(nodes: Iterable[Node], paint: Paint) -> str:
    """The same with neighbouring rows, such as tool calls, in a box together."""
    runs = ((together, fragment(run, paint)) for together, run in groupby(nodes, is_row))
    return "".join([f'<div class="calls">{run}</div>' if together else run for together, run in runs])


def _node(node: Node, paint: Paint) -> str:
    match node:
        case Prose():
            return f'<div class="prose">{prose(node.markdown, paint.images)}</div>'
        case Fold():
            return fold(node, _inside(node, paint))
        case Code():
            return code(node)
        case Heading():
            return heading(node)
        case Terminal():
            return terminal(node)
        case Diff():
            return diff(node, paint)
        case _:
            return _rarer(node, paint)


def _inside(node: Fold, paint: Paint) -> str:
    return grouped(node.children, paint) if is_conversation(node) else fragment(node.children, paint)


def _rarer(node: Fields | Checklist | Table | Picture | Link | Raw, paint: Paint) -> str:
    match node:
        case Fields():
            return fields(node)
        case Checklist():
            return checklist(node)
        case Table():
            return table(node)
        case Picture():
            return picture(node, paint)
        case Link():
            return f'<p class="link">{_link(node, paint)}</p>'
        case Raw():
            return raw(node)
        case _:
            assert_never(node)


def _link(node: Link, paint: Paint) -> str:
    kind, _, session = node.target.partition(":")
    return session_link(node.text, session, paint) if kind == "session" else named(node.text, node.target)
