"""Edits of a file: pieces of text replaced by others, shown as the lines that changed."""

from unspool.doc import Diff
from unspool.model import ToolCall
from unspool.tools import diff, nodes, summary
from unspool.tools.diff import FileVersions, apply_patch
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Edit", "MultiEdit")

_Edit = tuple[str, str, bool]


def describe(call: ToolCall) -> CallDescription:
    made = changes(call)
    given = ToolFields(call.input)
    path = given.need("file_path")
    for key in ("old_string", "new_string", "edits"):
        given.take(key)
    everywhere = nodes.field_nodes(("replace all", "yes" if given.flag("replace_all") else ""))
    mine = "changed by the user" if nodes.result_fields(call).flag("userModified") else ""
    lines = summary.changed_lines(sum(one.added for one in made), sum(one.removed for one in made))
    return CallDescription(f"{call.name} {path}", summary.join_facts(lines, mine), (*everywhere, *given.rest(), *made))


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """The kept patch; else the edits applied to the kept original; else the pieces themselves."""
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    path, edits = given.need("file_path"), _edits(given)
    original = detail.text("originalFile") or detail.text("originalFileContents")
    created = not original and bool(edits) and not edits[0][0]
    patch = diff.diff_of_patch(path, detail.take("structuredPatch"), created)
    if patch:
        return (patch,)
    after = _applied(original, edits) if original or created else None
    if after is not None:
        return (diff.diff_of_texts(path, original, after, created=created),)
    pieces = (diff.diff_of_fragments(path, old, new) for old, new, _ in edits)
    return (diff.join_hunks(path, tuple(hunk for piece in pieces for hunk in piece.hunks), created=False),)


def stood(call: ToolCall, believed: str | None) -> FileVersions:
    """The kept original, else what the file was believed to be, with the kept patch, else the edits, applied."""
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    edits = _edits(given)
    kept = detail.first("originalFile", "originalFileContents")
    before = kept or ("" if edits and not edits[0][0] else believed)
    if before is None:
        return FileVersions()
    patch = diff.diff_of_patch("", detail.take("structuredPatch"))
    after = apply_patch(before, patch.hunks) if patch is not None and patch.hunks else None
    if after is None and not detail.flag("userModified"):
        after = _applied(before, edits)
    return FileVersions(before if kept or after is not None else None, after)


def _edits(given: ToolFields) -> list[_Edit]:
    if "edits" not in given:
        return [_one(given)]
    return [_one(ToolFields(edit)) for edit in given.items("edits")]


def _one(edit: ToolFields) -> _Edit:
    return edit.need("old_string"), edit.need("new_string"), edit.flag("replace_all")


def _applied(text: str, edits: list[_Edit]) -> str | None:
    """The text after all edits; None where one does not fit."""
    for old, new, everywhere in edits:
        if not old and not text:
            text = new
        elif old and old in text:
            # A piece replaced by nothing takes the end of its line along: the agent leaves no empty line behind.
            line = old if new or old.endswith("\n") or old + "\n" not in text else old + "\n"
            text = text.replace(line, new, -1 if everywhere else 1)
        else:
            return None
    return text
