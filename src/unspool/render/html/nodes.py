"""Document nodes as HTML: one string a node, safe whatever the log holds."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, assert_never

from unspool.doc import Checklist, Code, Diff, Fields, Fold, Heading, Link, Node, Picture, Prose, Raw, Table, Terminal
from unspool.human import joined
from unspool.render.html.elements import HtmlOptions, content, css_class, div, ident, named_link, session_link
from unspool.render.html.panels import (
    checklist_items,
    code_panel,
    data_table,
    diff_panel,
    field_list,
    raw_panel,
    terminal_panel,
)
from unspool.render.html.prose import picture_figure, prose_html
from unspool.tools.summary import short_line


def _heading(node: Heading) -> str:
    """A heading below the page's own, with the short facts beside it."""
    level = min(6, max(2, node.level))
    kind = css_class(node.kind)
    marks = (f' class="{kind}"' if kind else "") + (f' id="{ident(node.anchor)}"' if node.anchor else "")
    notes = f' <span class="notes">{content(joined(*node.notes))}</span>' if any(node.notes) else ""
    return f"<h{level}{marks}>{content(node.text)}{notes}</h{level}>"


_PAGE: Final = re.compile(r"[a-z]+\.html#[\w.:-]+")
"""A place on a page beside this one."""
_SHELLS: Final = frozenset({"bash", "powershell"})
_CARDS: Final = frozenset({"plan", "todos", "question"})
_ROWS: Final = frozenset({"tool", "agent", "problem"})
_KINDS: Final = frozenset({*_CARDS, "tool", "thinking", "agent", "notice", "problem"})
_BY_CLASS: Final = frozenset({"tool", "notice"})
"""Kinds that are known by their class, `call` or `notice`, as prompts and answers are: they are most of a page."""
_TONES: Final = {"plain": "", "quiet": "", "good": " good", "bad": " bad", "warn": " warn"}


def _fold(node: Fold, options: HtmlOptions) -> str:
    """The fold in the shape of its kind, around its children."""
    if Heading in map(type, node.children):  # turns of its own, as a subagent has
        inside = f'<div class="agent">{grouped_html(node.children, options)}</div>'
    else:
        inside = nodes_html(node.children, options)
    kind = _kind(node)
    marks = "" if kind in _BY_CLASS else f' data-kind="{kind}"'
    marks += f' id="{ident(node.anchor)}"' if node.anchor else ""
    if kind in _CARDS:
        badge = f' <span class="badge{_TONES[node.tone]}">{content(node.outcome)}</span>' if node.outcome else ""
        body = f"<div>{inside}</div>" if inside else ""
        return f'<div class="card"{marks}><header><span>{content(node.summary)}</span>{badge}</header>{body}</div>'
    body = f"<div>{inside}</div>" if inside else ""
    if kind == "notice":
        summary = f"<span>{content(node.summary)}</span>{_gist(node)}"
        return _details(f'class="notice{_TONES[node.tone]}"{marks}', node, summary, body)
    name, _, what = node.summary.partition(" " if kind == "tool" else ": ")
    gist = _gist(node, _TONES[node.tone])
    ran = _command(node, what) if kind == "tool" else ""
    words = f'<span class="what">{content(what)}</span>{ran}'
    if ran:  # what it was for comes first, and what was run is small
        words = f'<span class="what for">{content(what)}</span>{ran}'
    summary = f"<b>{content(name)}</b> {words}{gist}"
    return _details(f'class="call{" think" if kind == "thinking" else ""}"{marks}', node, summary, body)


def _command(node: Fold, what: str) -> str:
    """The beginning of the command of a row that says what it was for; nothing where the row says the command."""
    code = next((child for child in node.children if isinstance(child, Code)), None)
    if code is None or code.language not in _SHELLS or code.text.lstrip().startswith(what[:40]):
        return ""
    return f' <code class="ran">{content(short_line(code.text, 90))}</code>'


def _kind(node: Fold) -> str:
    """The kind that filters and looks know; what they do not know is a notice."""
    kind = node.kind.partition(":")[0]
    return kind if kind in _KINDS else "notice"


def _details(attributes: str, node: Fold, summary: str, body: str) -> str:
    if not body:
        return f"<div {attributes}>{summary}</div>"
    return f"<details {attributes}{' open' if node.open else ''}><summary>{summary}</summary>{body}</details>"


def _gist(node: Fold, tone: str = "") -> str:
    """What came of it, at the end of a row."""
    marks = f' class="{tone.strip()}"' if tone else ""
    return f" <i{marks}>{content(node.outcome)}</i>" if node.outcome else ""


def nodes_html(nodes: Iterable[Node], options: HtmlOptions) -> str:
    """The nodes as HTML, one after the other."""
    return "".join([_node(node, options) for node in nodes])


def grouped_html(nodes: Iterable[Node], options: HtmlOptions) -> str:
    """The same with neighbouring rows, such as tool calls, in a box together."""
    runs = groupby(nodes, lambda node: isinstance(node, Fold) and _kind(node) in _ROWS)
    return "".join([div("calls", nodes_html(run, options)) if rows else nodes_html(run, options) for rows, run in runs])


def _node(node: Node, options: HtmlOptions) -> str:
    match node:
        case Prose():
            return f'<div class="prose" dir="auto">{prose_html(node.markdown, options.images)}</div>'
        case Fold():
            return _fold(node, options)
        case Code():
            return code_panel(node)
        case Heading():
            return _heading(node)
        case Terminal():
            return terminal_panel(node)
        case Diff():
            return diff_panel(node, options)
        case _:
            return _rarer(node, options)


def _rarer(node: Fields | Checklist | Table | Picture | Link | Raw, options: HtmlOptions) -> str:
    match node:
        case Fields():
            return field_list(node)
        case Checklist():
            return checklist_items(node)
        case Table():
            return data_table(node)
        case Picture():
            return picture_figure(node, options)
        case Link():
            kind, _, target = node.target.partition(":")
            if kind == "session":
                return f'<p class="link">{session_link(node.text, target, options)}</p>'
            if kind == "page" and _PAGE.fullmatch(target):
                return f'<p class="link"><a href="{target}">{content(node.text)}</a></p>'
            return f'<p class="link">{named_link(node.text, node.target)}</p>'
        case Raw():
            return raw_panel(node)
        case _:
            assert_never(node)
