"""Questions to a language server: where something is defined, used or documented."""

from unspool import human
from unspool.model import ToolCall
from unspool.tools import nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("LSP",)


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    place = given.text("filePath")
    for key in ("line", "character"):
        number = given.number(key)
        place += "" if number is None else f":{number:.0f}"
    results, files = detail.number("resultCount"), detail.number("fileCount")
    outcome = summary.join_facts(
        (
            "" if results is None else human.count(results, "result"),
            "" if files is None else human.count(files, "file"),
        )
    )
    answer = nodes.result_text(call) or detail.text("result")
    return CallDescription(
        f"{call.name} {given.need('operation')} {place}", outcome, (*given.rest(), *nodes.printed_nodes(answer))
    )
