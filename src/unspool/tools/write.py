"""Whole files written: all of a new one, or what changed in one that was there."""

from unspool import human
from unspool.doc import Code, Diff, Node
from unspool.model import ToolCall
from unspool.tools import diff, nodes, summary
from unspool.tools.diff import FileVersions
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Write",)


def describe(call: ToolCall) -> CallDescription:
    made = changes(call)
    given = ToolFields(call.input)
    path, content = given.need("file_path"), given.need("content")
    outcome = human.count(summary.count_lines(content), "line")
    shown: tuple[Node, ...] = (Code(content, summary.language(path), path),)
    if made:
        lines = summary.changed_lines(made[0].added, made[0].removed)
        outcome, shown = summary.join_facts("new" if made[0].created else "", lines), made
    return CallDescription(f"{call.name} {path}", outcome, (*given.rest(), *shown))


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """The kept patch, or the difference to the kept original. None where a file changed and neither was kept."""
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    path, content = given.need("file_path"), given.need("content")
    original = detail.text("originalFile")
    created = not original and not _replaced(call, detail.text("type"))
    patch = diff.diff_of_patch(path, detail.take("structuredPatch"), created)
    if patch:
        return (patch,)
    return (diff.diff_of_texts(path, original, content, created=created),) if created or original else ()


def stood(call: ToolCall, believed: str | None) -> FileVersions:
    """What was written is all of the file; what it was before is kept, or believed."""
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    content, kept = given.need("content"), detail.text("originalFile")
    before = kept or (believed if _replaced(call, detail.text("type")) else "")
    return FileVersions(before, detail.text("content") or content)


def _replaced(call: ToolCall, kind: str) -> bool:
    return kind == "update" or (not kind and "has been updated" in nodes.result_text(call)[:2000])
