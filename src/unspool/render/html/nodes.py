"""Document nodes as HTML: one string a node, safe whatever the log holds."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final, assert_never

from unspool.doc import Checklist, Code, Diff, Fields, Fold, Heading, Link, Node, Picture, Prose, Raw, Table, Terminal
from unspool.human import joined
from unspool.render.html.elements import HtmlOptions, content, css_class, ident, named_link, session_link
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


def heading_html(node: Heading) -> str:
    """A heading below the page's own, with the short facts beside it."""
    level = min(6, max(2, node.level))
    kind = css_class(node.kind)
    marks = (f' class="{kind}"' if kind else "") + (f' id="{ident(node.anchor)}"' if node.anchor else "")
    notes = f' <span class="notes">{content(joined(*node.notes))}</span>' if any(node.notes) else ""
    return f"<h{level}{marks}>{content(node.text)}{notes}</h{level}>"


_CARDS: Final = frozenset({"plan", "todos", "question"})
_ASIDE: Final = frozenset({"notice", "compaction"})
_KINDS: Final = frozenset({*_CARDS, "tool", "thinking", "agent", "notice", "problem"})
_TONES: Final = {"plain": "", "quiet": "", "good": " good", "bad": " bad", "warn": " warn"}


def is_row(node: Node) -> bool:
    """True for a fold that is a row among others."""
    return isinstance(node, Fold) and _kind(node) in {"tool", "agent", "problem"}


def is_conversation(node: Fold) -> bool:
    """True for a fold that holds turns of its own, as a subagent does."""
    return Heading in map(type, node.children)


def fold_html(node: Fold, inside: str) -> str:
    """The fold in the shape of its kind, around the markup of its children."""
    kind = _kind(node)
    marks = f' data-kind="{kind}"' + (f' id="{ident(node.anchor)}"' if node.anchor else "")
    if kind in _CARDS:
        return _card(node, marks, inside)
    if kind == "thinking":
        return _details(f'class="think"{marks}', node, _thought(node), _body(node, inside, ""))
    if kind == "notice":
        return _details(f'class="notice{_TONES[node.tone]}"{marks}', node, _notice(node), _body(node, inside, "body"))
    return _details(f'class="call"{marks}', node, _row(node, kind), _body(node, inside, "body"))


def _kind(node: Fold) -> str:
    """The kind that filters and looks know; what they do not know is a notice."""
    kind = node.kind.partition(":")[0]
    return kind if kind in _KINDS else "notice"


def _details(attributes: str, node: Fold, summary: str, body: str) -> str:
    if not body:
        return f"<div {attributes}>{summary}</div>"
    return f"<details {attributes}{' open' if node.open else ''}><summary>{summary}</summary>{body}</details>"


def _body(node: Fold, inside: str, name: str) -> str:
    if not inside:
        return ""
    inside = f'<div class="agent">{inside}</div>' if is_conversation(node) else inside
    return f'<div class="{name}">{inside}</div>' if name else f"<div>{inside}</div>"


def _row(node: Fold, kind: str) -> str:
    name, _, what = node.summary.partition(" " if kind == "tool" else ": ")
    return (
        f'<span class="name">{content(name)}</span> <span class="what">{content(what)}</span>'
        f"{_gist(node, f'gist{_TONES[node.tone]}')}"
    )


def _thought(node: Fold) -> str:
    name, _, preview = node.summary.partition(": ")
    return f"<b>{content(name)}</b> <span>{content(preview or node.outcome)}</span>"


def _notice(node: Fold) -> str:
    return f"<span>{content(node.summary)}</span>{_gist(node, 'gist')}"


def _card(node: Fold, marks: str, inside: str) -> str:
    badge = _gist(node, f"badge{_TONES[node.tone]}")
    body = f"<div>{inside}</div>" if inside else ""
    return f'<div class="card"{marks}><header><span>{content(node.summary)}</span>{badge}</header>{body}</div>'


def _gist(node: Fold, classes: str) -> str:
    return f' <span class="{classes}">{content(node.outcome)}</span>' if node.outcome else ""


def nodes_html(nodes: Iterable[Node], paint: HtmlOptions) -> str:
    """The nodes as HTML, one after the other."""
    return "".join([_node(node, paint) for node in nodes])


def grouped_html(nodes: Iterable[Node], paint: HtmlOptions) -> str:
    """The same with neighbouring rows, such as tool calls, in a box together."""
    runs = ((together, nodes_html(run, paint)) for together, run in groupby(nodes, is_row))
    return "".join([f'<div class="calls">{run}</div>' if together else run for together, run in runs])


def _node(node: Node, paint: HtmlOptions) -> str:
    match node:
        case Prose():
            return f'<div class="prose">{prose_html(node.markdown, paint.images)}</div>'
        case Fold():
            return fold_html(node, _inside(node, paint))
        case Code():
            return code_panel(node)
        case Heading():
            return heading_html(node)
        case Terminal():
            return terminal_panel(node)
        case Diff():
            return diff_panel(node, paint)
        case _:
            return _rarer(node, paint)


def _inside(node: Fold, paint: HtmlOptions) -> str:
    return grouped_html(node.children, paint) if is_conversation(node) else nodes_html(node.children, paint)


def _rarer(node: Fields | Checklist | Table | Picture | Link | Raw, paint: HtmlOptions) -> str:
    match node:
        case Fields():
            return field_list(node)
        case Checklist():
            return checklist_items(node)
        case Table():
            return data_table(node)
        case Picture():
            return picture_figure(node, paint)
        case Link():
            return f'<p class="link">{_link(node, paint)}</p>'
        case Raw():
            return raw_panel(node)
        case _:
            assert_never(node)


def _link(node: Link, paint: HtmlOptions) -> str:
    kind, _, session = node.target.partition(":")
    return session_link(node.text, session, paint) if kind == "session" else named_link(node.text, node.target)
