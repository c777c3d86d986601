"""Patches of several files at once, as some agents write them: what each changes, line by line."""

from unspool.doc import Diff, Hunk
from unspool.model import ToolCall
from unspool.model.tool_input import PatchedFile, patch_of, patched_files
from unspool.tools import diff, nodes, summary
from unspool.tools.diff import FileVersions
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("apply_patch",)


def describe(call: ToolCall) -> CallDescription:
    made, text = changes(call), patch_of(call.input)
    if not made:
        raise ValueError("no patch")
    rest = {} if isinstance(call.input, str) else {name: one for name, one in call.input.items() if one != text}
    lines = summary.changed_lines(sum(one.added for one in made), sum(one.removed for one in made))
    more = f" and {len(made) - 1} more" if len(made) > 1 else ""
    return CallDescription(
        f"{call.name} {made[0].path}{more}", lines, (*ToolFields(rest).rest(), *made, *nodes.answer_nodes(call))
    )


def changes(call: ToolCall) -> tuple[Diff, ...]:
    return tuple(map(_diff, patched_files(patch_of(call.input))))


def stood(call: ToolCall, believed: str | None, path: str) -> FileVersions:
    """The file before and after, where it was known before or is new."""
    for one in patched_files(patch_of(call.input)):
        if path not in (one.path.strip(), one.moved_to):
            continue
        if one.action == "Add":
            return FileVersions("", "".join(f"{line[1:]}\n" for line in one.lines if line.startswith("+")))
        if one.action == "Delete":
            return FileVersions(believed, "")
        return FileVersions(believed, None if believed is None else _applied(believed, one))
    return FileVersions()


def _diff(one: PatchedFile) -> Diff:
    hunks: list[Hunk] = []
    run: list[str] = []
    for line in (*one.lines, "@@"):
        if line.startswith("@@"):
            if run:
                hunks.append(Hunk(0, 0, tuple(run)))
            run = []
        elif line[:1] in ("+", "-", " "):
            run.append(line)
        elif run and line == "":
            run.append(" ")  # an empty line that lost its space
    while hunks and hunks[-1].lines and hunks[-1].lines[-1] == " ":
        hunks[-1] = Hunk(0, 0, hunks[-1].lines[:-1])
    return diff.join_hunks(one.moved_to or one.path.strip(), tuple(hunks), created=one.action == "Add")


def _applied(text: str, one: PatchedFile) -> str | None:
    """The text with the runs of changes put in, each at the first place that it fits behind the one before; None where
    one fits nowhere."""
    lines, at = text.split("\n"), 0
    for hunk in _diff(one).hunks:
        old = [line[1:] for line in hunk.lines if line[0] in " -"]
        new = [line[1:] for line in hunk.lines if line[0] in " +"]
        places = (place for place in range(at, len(lines) - len(old) + 1) if lines[place : place + len(old)] == old)
        place = next(places, None)
        if place is None:
            return None
        lines[place : place + len(old)] = new
        at = place + len(new)
    return "\n".join(lines)
