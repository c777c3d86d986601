"""Folds as markup: rows that open, cards that stand open, thoughts and notices that stay in the background."""

from typing import Final

from unspool.doc import Fold, Heading, Node
from unspool.export.html.escape import content, ident

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


def fold(node: Fold, inside: str) -> str:
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
