"""Whole files written: all of a new one, or what changed in one that was there."""

from unspool.doc import Code, Diff, Node
from unspool.model import ToolCall
from unspool.tools import diff, paths, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown
from unspool.tools.stood import Stood

NAMES: tuple[str, ...] = ("Write",)


def describe(call: ToolCall) -> Shown:
    made = changes(call)
    given = Given(call.input)
    path, content = given.need("file_path"), given.need("content")
    if made:
        outcome = words.joined(("new" if made[0].created else "", words.changed(made[0].added, made[0].removed)))
        shown: tuple[Node, ...] = made
    else:
        outcome = words.count(words.lines(content), "line")
        shown = (Code(content, paths.language(path), path),)
    return Shown(f"{call.name} {path}", outcome, (*given.rest(), *shown))


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """The kept patch, or the difference to the kept original. None where a file changed and neither was kept."""
    given, detail = Given(call.input), reply.detail(call)
    path, content = given.need("file_path"), given.need("content")
    original = detail.text("originalFile")
    created = not original and not _replaced(call, detail.text("type"))
    patch = diff.of_patch(path, detail.take("structuredPatch"), created)
    if patch:
        return (patch,)
    return (diff.of_texts(path, original, content, created=created),) if created or original else ()


def stood(call: ToolCall, believed: str | None) -> Stood:
    """What was written is all of the file; what it was before is kept, or believed."""
    given, detail = Given(call.input), reply.detail(call)
    content, kept = given.need("content"), detail.text("originalFile")
    before = kept or (believed if _replaced(call, detail.text("type")) else "")
    return Stood(before, detail.text("content") or content)


def _replaced(call: ToolCall, kind: str) -> bool:
    return kind == "update" or (not kind and "has been updated" in reply.text(call)[:2000])
