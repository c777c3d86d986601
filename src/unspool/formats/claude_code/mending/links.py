"""Ids, parents and the leaf: what hangs from what, mended so that the whole conversation hangs together."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from unspool.formats.claude_code.lint.context import context
from unspool.formats.claude_code.lint.tree import Tree
from unspool.formats.claude_code.mending.rows import Row, Rows, new_id

if TYPE_CHECKING:
    from unspool.formats.claude_code.lint.facts import Line

Elsewhere = Callable[[], Mapping[str, str]]
"""Gives the parents of lines in other logs, by id."""


def mend(rows: Rows, elsewhere: Elsewhere) -> None:
    """Every line its own id, every parent there, no circle."""
    _ids(rows)
    _parents(rows, elsewhere)
    _cycles(rows)


def _ids(rows: Rows) -> None:
    """Of two lines with one id the later goes if it says the same, else it gets an id of its own."""
    first: dict[str, Line] = {}
    renamed: dict[str, str] = {}
    gone: list[Row] = []
    for line in rows.lines():
        row = rows.row(line)
        if line.parent in renamed and line.in_chain:
            rows.set(row, parentUuid=renamed[line.parent])
        if not line.in_chain:
            continue
        other = first.setdefault(line.id, line)
        if other is line:
            continue
        if other.digest == line.digest:
            rows.tell("duplicate-uuid", row, f"The same as line {rows.row(other).number}: taken out.", line.id, row.raw)
            gone.append(row)
        else:
            renamed[line.id] = new_id(line.id, row.number)
            rows.tell(
                "duplicate-uuid", row, "It had the id of another line: it and what follows it have a new one.", line.id
            )
            rows.set(row, uuid=renamed[line.id])
    rows.rows = [row for row in rows.rows if not any(row is one for one in gone)]


def _parents(rows: Rows, elsewhere: Elsewhere) -> None:
    tree = Tree(rows.lines())
    last: Line | None = None
    for line in tree.lines:
        if line.shape.is_sidechain:
            continue
        if line.parent and line.parent not in tree.by_id:
            parent = _above(line.parent, elsewhere(), tree) or (last.id if last is not None else "")
            what = "it was tied to the line before" if parent else "it begins the conversation now"
            rows.tell("missing-parent", rows.row(line), f"The line it followed is not there: {what}.", line.id)
            rows.set(rows.row(line), parentUuid=parent or None)
        last = line


def _above(parent: str, elsewhere: Mapping[str, str], tree: Tree) -> str:
    """The nearest line of the log above one that lies in a subagent's."""
    seen: set[str] = set()
    while parent in elsewhere and parent not in seen:
        seen.add(parent)
        parent = elsewhere[parent]
    return parent if parent in tree.by_id else ""


def _cycles(rows: Rows) -> None:
    """Each circle is cut above its first line, which is tied to the line before the circle."""
    tree = Tree(rows.lines())
    done: set[str] = set()
    for start in tree.lines:
        trail: list[str] = []
        line: Line | None = start
        while line is not None and line.id not in done and line.id not in trail:
            trail.append(line.id)
            line = tree.by_id.get(line.parent)
        if line is not None and line.id in trail:
            ring = trail[trail.index(line.id) :]
            _cut(rows, tree, ring)
        done.update(trail)


def _cut(rows: Rows, tree: Tree, ring: list[str]) -> None:
    first = min((tree.by_id[one] for one in ring), key=lambda one: one.number)
    before = [line for line in tree.lines if line.number < first.number and line.is_main]
    parent = before[-1].id if before else None
    if parent is not None and _leads_to(tree, parent, set(ring)):
        parent = None
    rows.tell("cycle", rows.row(first), "Lines followed one another in a circle, which was cut here.", first.id)
    rows.set(rows.row(first), parentUuid=parent)


def _leads_to(tree: Tree, line: str, ring: set[str]) -> bool:
    return any(one.id in ring for one in tree.walk(tree.by_id.get(line)).lines)


def mend_leaf(rows: Rows) -> None:
    """Where the agent would go on from elsewhere, the last words of the log are made the end."""
    tree = Tree(rows.lines())
    live = {line.id for line in context(tree, tree.leaf)}
    said = [line for line in tree.lines if line.spoken and line.is_main]
    if not said or tree.leaf is None or (said[-1].id in live and not tree.leaf.shape.is_sidechain):
        return
    last = said[-1]
    below = [line for line in said if any(one.id == last.id for one in tree.walk(line).lines)]
    if len(below) > 1:
        end = max((line for line in below if line is not last), key=lambda line: len(tree.walk(line).lines))
        row = rows.row(end)
        rows.rows.remove(row)
        rows.rows.append(row)
        rows.tell("wrong-leaf", row, "The conversation's end stood before its last lines: it was moved behind them.")
        return
    for line in tree.lines:
        if line.parent == last.id:
            rows.set(rows.row(line), parentUuid=last.parent or None)
    told = "The agent would have gone on from elsewhere: what hung below the last words hangs beside them now."
    rows.tell("wrong-leaf", rows.row(last), told, last.id)
