"""The answer to a call as nodes: what every tool's result has in common."""

import re

from unspool.doc import Code, Fields, Fold, Link, Node, Picture, Prose, Raw, Terminal
from unspool.model import Image, Result, ToolCall
from unspool.tools import data, words
from unspool.tools.ansi import spans
from unspool.tools.given import Given

_FAILED = re.compile(r"\A(?:Error: )?Exit code (\d{1,9})(?:\n|\Z)")
_WRAPPED = re.compile(r"\A\s*<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)


def good(call: ToolCall) -> Result | None:
    """The result of a call that ran and did not fail."""
    return call.result if call.result and call.state in {"ok", "orphan"} and not call.result.error else None


def text(call: ToolCall) -> str:
    """The text of a good result, else nothing."""
    result = good(call)
    return result.text if result else ""


def detail(call: ToolCall) -> Given:
    """The fields of a good result's structured twin, else none."""
    result = good(call)
    return Given.maybe(result.detail if result else None)


def terminal(output: str, code: int | None = None) -> tuple[Node, ...]:
    """Output as a terminal shows it; nothing where there is neither output nor an exit code."""
    return (Terminal(spans(output), exit_code=code),) if output.strip() or code is not None else ()


def printed(output: str) -> tuple[Node, ...]:
    """An answer meant for reading: JSON laid out, anything else as a terminal shows it."""
    layout = data.laid_out(output)
    return terminal(output) if layout is None else (Code(layout, "json"),)


def link(url: str, text: str = "") -> tuple[Node, ...]:
    """A web address that can be followed; any other is only told."""
    if url.startswith(("https://", "http://")):
        return (Link(url, text or url),)
    return fields((text or "address", url))


def prose(markdown: str) -> tuple[Node, ...]:
    """Markdown, or nothing where there is none."""
    return (Prose(markdown),) if markdown.strip() else ()


def fields(*items: tuple[str, str]) -> tuple[Node, ...]:
    """The fields that have a value."""
    kept = tuple(item for item in items if item[1])
    return (Fields(kept),) if kept else ()


def exit_code(call: ToolCall) -> int | None:
    """The number a failed command ended with, where the text says it."""
    found = _FAILED.match(call.result.text) if call.result and call.result.error else None
    return int(found[1]) if found else None


def failure(call: ToolCall) -> tuple[Node, ...]:
    """What a result says that is an error or a refusal, and what the user said to it."""
    result = call.result
    if result is None or result is good(call):
        return ()
    wrapped = _WRAPPED.match(result.text)
    said = wrapped[1] if wrapped else _FAILED.sub("", result.text) if result.error else result.text
    if result.feedback and said.rstrip().endswith(result.feedback):
        said = said.rstrip()[: -len(result.feedback)]
    return (*terminal(said, exit_code(call)), *prose(result.feedback))


def pictures(images: tuple[Image, ...]) -> tuple[Node, ...]:
    """Images and documents of an answer."""
    return tuple(Picture(image.media_type, image.data, image.url, image.label or image.path) for image in images)


def unknown(result: Result) -> tuple[Node, ...]:
    """Pieces of an answer that are neither text nor image, as their data."""
    return tuple(Raw(data.text(part), _kind(part)) for part in result.parts)


def surroundings(call: ToolCall) -> tuple[Node, ...]:
    """Where the full output went, whether a person let it run, and the answers that the last one replaced."""
    result = call.result
    spilled = f"{result.spilled} (missing)" if result and result.spilled and result.missing else ""
    earlier = (
        Fold("tool", "Earlier answer", words.count(words.lines(old.text), "line"), "quiet", children=_old(old))
        for old in call.earlier
    )
    asked = result.permission if result and result.permission.startswith("user") else ""
    output = spilled or (result.spilled if result else "")
    return (*fields(("full output", output), ("permission", asked and f"decided by the {asked}")), *earlier)


def _old(result: Result) -> tuple[Node, ...]:
    return (*printed(result.text), *pictures(result.images), *unknown(result))


def _kind(part: object) -> str:
    kind = part.get("type") if isinstance(part, dict) else ""
    return words.line(kind) if isinstance(kind, str) else ""
