"""Questions to a language server: where something is defined, used or documented."""

from unspool.model import ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ("LSP",)


def describe(call: ToolCall) -> Shown:
    given, detail = Given(call.input), reply.detail(call)
    place = given.text("filePath")
    for key in ("line", "character"):
        number = given.number(key)
        place += "" if number is None else f":{number:.0f}"
    results, files = detail.number("resultCount"), detail.number("fileCount")
    outcome = words.joined(
        (
            "" if results is None else words.count(results, "result"),
            "" if files is None else words.count(files, "file"),
        )
    )
    answer = reply.text(call) or detail.text("result")
    return Shown(f"{call.name} {given.need('operation')} {place}", outcome, (*given.rest(), *reply.printed(answer)))
