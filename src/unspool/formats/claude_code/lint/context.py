"""What the agent would send to the model when it resumes: the lines in question, joined to messages in turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from unspool.formats.claude_code.lint.blocks import Piece
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.recovery import recovered
from unspool.formats.claude_code.lint.tree import Tree


class Sent(NamedTuple):
    """One message of a request, and the lines that it is made of."""

    role: str
    lines: list[Line]

    @property
    def pieces(self) -> list[tuple[Line, Piece]]:
        return [(line, piece) for line in self.lines for piece in line.pieces]


def context(tree: Tree, leaf: Line | None) -> list[Line]:
    """The lines that the agent has in mind at a leaf: since the last compaction, with what that one preserved."""
    return recovered(tree, spliced(tree, tree.walk(leaf).lines))


def spliced(tree: Tree, path: list[Line]) -> list[Line]:
    """The path with the lines that a compaction keeps, behind its summary."""
    if not path or not path[0].is_boundary:
        return path
    kept = preserved(tree, path[0])
    on_path = {line.id for line in path}
    kept = [line for line in kept if line.id not in on_path]
    anchor = kept_anchor(path[0])
    at = next((index for index, line in enumerate(path) if line.id == anchor), None)
    return path if at is None or not kept else [*path[: at + 1], *kept, *path[at + 1 :]]


def kept_anchor(boundary: Line) -> str:
    """The line that what was kept hangs below."""
    anchor = _part(boundary, "preservedSegment").get("anchorUuid")
    anchor = anchor or _part(boundary, "preservedMessages").get("anchorUuid")
    return anchor if isinstance(anchor, str) else ""


def preserved(tree: Tree, boundary: Line) -> list[Line]:
    """The lines that a compaction keeps, in order; none where they are not all there."""
    listed = _part(boundary, "preservedMessages").get("uuids")
    if isinstance(listed, list) and listed:
        lines = [tree.by_id.get(one) if isinstance(one, str) else None for one in listed]
        return [line for line in lines if line is not None] if None not in lines else []
    segment = _part(boundary, "preservedSegment")
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    walk = tree.walk(tree.by_id.get(tail)).lines if isinstance(tail, str) else []
    ids = [line.id for line in walk]
    return walk[ids.index(head) :] if head in ids else []


def _part(boundary: Line, name: str) -> dict[str, Any]:
    facts = boundary.shape.compact_metadata
    part = facts.get(name) if isinstance(facts, dict) else None
    return part if isinstance(part, dict) else {}


def messages(lines: Sequence[Line]) -> list[Sent]:
    """Lines as messages: those of one answer together whatever stands between, results behind the calls, roles in turn.

    Errors that the agent noted as answers, and what was withdrawn, are not sent.
    """
    withdrawn = {one for line in lines for one in _withdrawn(line)}
    found: list[Sent] = []
    answer = ""
    for line in lines:
        if not line.spoken or line.shape.is_api_error_message or line.id in withdrawn:
            continue
        role = str(line.shape.type)
        if role == "assistant" and line.message == answer and len(found) > 1:
            (found[-1] if found[-1].role == role else found[-2]).lines.append(line)
        elif found and found[-1].role == role:
            found[-1].lines.append(line)
        else:
            found.append(Sent(role, [line]))
        answer = line.message if role == "assistant" else answer
    return found


def _withdrawn(line: Line) -> list[str]:
    return [*(line.shape.retracted_message_uuids or ()), *(line.shape.supersedes_uuids or ())]
