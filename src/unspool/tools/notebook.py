"""Notebooks: reading their cells, and changing one."""

from unspool import human
from unspool.doc import Code, Diff, Node
from unspool.model import Json, ToolCall
from unspool.tools import diff, summary
from unspool.tools import fields as data
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

_EDIT = "NotebookEdit"
NAMES: tuple[str, ...] = (_EDIT, "NotebookRead")


def describe(call: ToolCall) -> CallDescription:
    return _edited(call) if call.name == _EDIT else _read(call)


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """The change of one cell. None where it had another source before and that was not kept."""
    if call.name != _EDIT:
        return ()
    given, detail = ToolFields(call.input), reply.result_fields(call)
    path, mode = given.need("notebook_path"), given.text("edit_mode")
    after = "" if mode == "delete" else given.text("new_source")
    before = "" if mode == "insert" else _before(given, detail)
    return () if before is None else (diff.diff_of_texts(path, before, after),)


def cells(found: list[Json]) -> tuple[Node, ...]:
    """Cells with what they printed."""
    return tuple(node for number, cell in enumerate(found) for node in _cell(ToolFields(cell), number))


def _edited(call: ToolCall) -> CallDescription:
    made = changes(call)
    given, detail = ToolFields(call.input), reply.result_fields(call)
    path, source = given.need("notebook_path"), given.text("new_source")
    kind, language = given.text("cell_type"), detail.text("language") or "python"
    outcome = human.count(summary.count_lines(source), "line")
    nodes: tuple[Node, ...] = (Code(source, "markdown" if kind == "markdown" else language),)
    if made:
        outcome, nodes = summary.changed_lines(made[0].added, made[0].removed), made
    error = reply.terminal_nodes(detail.text("error"))
    return CallDescription(f"{call.name} {path}", outcome, (*given.rest(), *nodes, *error))


def _read(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), reply.result_fields(call)
    path = given.first("notebook_path", "path")
    found = detail.within("file").items("cells") or detail.items("cells")
    shown = cells(found) or reply.answer_nodes(call)
    outcome = human.count(len(found), "cell") if found else ""
    return CallDescription(f"{call.name} {path}", outcome, (*given.rest(), *shown))


def _cell(cell: ToolFields, number: int) -> tuple[Node, ...]:
    source = _joined(cell.take("source"))
    caption = f"cell {data.json_text(cell.first('cell_id', 'id') or number)}"
    if (cell.first("cellType", "cell_type") or "code") == "markdown":
        return reply.prose_nodes(source)
    printed = (node for output in cell.items("outputs") for node in _output(ToolFields(output)))
    return (Code(source, cell.text("language") or "python", caption), *printed)


def _output(output: ToolFields) -> tuple[Node, ...]:
    printed = _joined(output.take("text"))
    return reply.terminal_nodes(printed) if printed else output.rest()


def _joined(value: Json) -> str:
    """A notebook keeps text as a string or as a list of lines."""
    return "".join(value) if isinstance(value, list) else data.json_text(value or "")


def _before(given: ToolFields, detail: ToolFields) -> str | None:
    """The cell as it was: kept, or found in the kept file by its id or number."""
    if "old_source" in detail:
        return detail.text("old_source")
    if "original_file" not in detail:
        return None
    name, number = given.take("cell_id"), given.take("cell_number")
    for place, cell in enumerate(ToolFields(data.parse_json(detail.text("original_file"))).items("cells")):
        fields = ToolFields(cell)
        if place == number if name is None else name in (fields.take("id"), f"cell-{place}"):
            return _joined(fields.take("source"))
    return None
