"""Document nodes as HTML: one string a node, safe whatever the log holds."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, assert_never

from unspool.doc import Checklist, Code, Diff, Fields, Fold, Heading, Link, Node, Picture, Prose, Raw, Table, Terminal
from unspool.human import joined
from unspool.render.html.elements import (
    HtmlOptions,
    content,
    css_class,
    div,
    ident,
    named_link,
    session_link,
    span,
    took_line,
)
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


def fold_html(node: Fold, options: HtmlOptions, anchor: str, *, opened: bool = False, took: str = "") -> str:
    """The fold in the shape of its kind, around its children, at an anchor that is markup already; `opened`: it stands
    open whatever the fold says; `took`: what it took, which is shown on request."""
    if Heading in map(type, node.children):  # turns of its own, as a subagent has
        inside = [f'<div class="agent">{grouped_html(node.children, options)}</div>']
    else:
        inside = [_node(child, options) for child in node.children]
    kind = _kind(node)
    marks = "" if kind in _BY_CLASS else f' data-kind="{kind}"'
    if anchor:
        marks += f' id="{anchor}"'
    if kind in _CARDS:
        return _card(node, marks, inside, took)
    if kind == "notice":
        attributes = f'class="notice{_TONES[node.tone]}"{marks}'
        summary = f"<span>{content(node.summary)}</span>{_gist(node)}"
    else:
        attributes = f'class="call{" think" if kind == "thinking" else ""}"{marks}'
        summary = _row(node, kind)
    if any(inside):
        words = span("took", took) if took else ""
        is_open = " open" if opened or node.open else ""
        inside.insert(0, f"<details {attributes}{is_open}><summary>{summary}{words}</summary><div>")
        inside.append("</div></details>")
        return "".join(inside)
    return f"<div {attributes}>{summary}{took_line(took)}</div>"


def _card(node: Fold, marks: str, inside: list[str], took: str) -> str:
    badge = f' <span class="badge{_TONES[node.tone]}">{content(node.outcome)}</span>' if node.outcome else ""
    body = f"<div>{''.join(inside)}</div>" if any(inside) else ""
    head = f'<div class="card"{marks}><header><span>{content(node.summary)}</span>{badge}</header>'
    return f"{head}{body}{took_line(took)}</div>"


def _row(node: Fold, kind: str) -> str:
    """What a row says."""
    name, _, what = node.summary.partition(" " if kind == "tool" else ": ")
    ran = _command(node, what) if kind == "tool" else ""
    if ran:  # what it was for comes first, and what was run is small
        words = f'<span class="what for">{content(what)}</span>{ran}'
    else:
        words = f'<span class="what">{content(what)}</span>'
    return f"<b>{content(name)}</b> {words}{_gist(node, _TONES[node.tone])}"


def _command(node: Fold, what: str) -> str:
    """The beginning of the command of a row that says what it was for; nothing where the row says the command."""
    for child in node.children:
        if isinstance(child, Code):
            if child.language not in _SHELLS or child.text.lstrip().startswith(what[:40]):
                return ""
            return f' <code class="ran">{content(short_line(child.text, 90))}</code>'
    return ""


def _kind(node: Fold) -> str:
    """The kind that filters and looks know; what they do not know is a notice."""
    kind = node.kind.partition(":")[0]
    return kind if kind in _KINDS else "notice"


def _gist(node: Fold, tone: str = "") -> str:
    """What came of it, at the end of a row."""
    if not node.outcome:
        return ""
    marks = f' class="{tone.strip()}"' if tone else ""
    return f" <i{marks}>{content(node.outcome)}</i>"


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
            return fold_html(node, options, ident(node.anchor) if node.anchor else "")
        case Fields():
            return field_list(node)
        case Code():
            return code_panel(node)
        case Terminal():
            return terminal_panel(node)
        case Diff():
            return diff_panel(node, options)
        case _:
            return _rarer(node, options)


def _rarer(node: Heading | Checklist | Table | Picture | Link | Raw, options: HtmlOptions) -> str:
    match node:
        case Heading():
            return _heading(node)
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
