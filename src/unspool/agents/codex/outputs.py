"""Answers of tools as Codex logs them: exit codes, what was printed, and what its events add to them."""

import re
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.agents.events import answered, picture
from unspool.agents.records import Detail
from unspool.agents.values import items, mapping, text, whole
from unspool.model import Event, Image, Json, Result

_HEAD = 600
_EXIT = re.compile(r"(?:Process exited with code|^Exit code:) (-?\d{1,9})(?=\n|$)")
_FAILED = ("Script failed", "apply_patch verification failed", "execution error:", "failed to parse function arguments")
_REFUSED = ("exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected")
_RUNNING = "Process running with session ID"
_DECLINED = ("declined", "denied")


class ToolEnd(NamedTuple):
    """What an event tells of the end of a call, beside the answer that the model got."""

    detail: dict[str, Any]
    failed: bool | None
    denial: str = ""


def command_end(said: dict[str, Any]) -> ToolEnd:
    """The end of a command, from `exec_command_end` or the item of a command."""
    code, printed = said.get("exit_code"), text(said.get("aggregated_output")) or text(said.get("stdout"))
    known = isinstance(code, int) and not isinstance(code, bool)
    detail = {"exit_code": code if known else None, "stdout": printed, "stderr": text(said.get("stderr"))}
    if printed and text(said.get("aggregated_output")):
        detail["stderr"] = ""  # it is among the printed already
    detail |= {name: said[name] for name in ("status", "duration", "cwd") if said.get(name) is not None}
    failed = code != 0 if known else True if said.get("status") == "failed" else None
    return ToolEnd(detail, failed, "user-rejected" if said.get("status") in _DECLINED else "")


def patch_end(said: dict[str, Any]) -> ToolEnd:
    """The end of a patch, with what it changed in each file."""
    names = ("changes", "status", "stdout", "stderr", "auto_approved")
    good = said.get("success", said.get("status") == "completed" if "status" in said else None)
    denial = "user-rejected" if said.get("status") in _DECLINED else ""
    return ToolEnd({name: said[name] for name in names if said.get(name)}, None if good is None else not good, denial)


def server_end(said: dict[str, Any]) -> ToolEnd:
    """The end of a call to a server or of a tool that the client brought."""
    result, left = mapping(said.get("result")), ("type", "id", "call_id", "turn_id")
    inner = mapping(result.get("Ok", result))
    wrong = "Err" in result or said.get("error") is not None or said.get("success") is False
    failed = wrong or inner.get("isError") is True or inner.get("is_error") is True or said.get("status") == "failed"
    return ToolEnd({name: value for name, value in said.items() if name not in left}, failed)


ENDS = {
    "exec_command_end": command_end, "CommandExecution": command_end, "patch_apply_end": patch_end,
    "FileChange": patch_end, "mcp_tool_call_end": server_end, "McpToolCall": server_end,
    "dynamic_tool_call_response": server_end, "DynamicToolCall": server_end,
}  # fmt: skip
HOSTED = ("web_search_end", "WebSearch", "image_generation_end", "ImageGeneration")


def is_end(kind: str) -> bool:
    """Whether a record tells what a call ended with."""
    return kind in ENDS or kind in HOSTED


class Answer(NamedTuple):
    """The answer of a tool, taken apart."""

    text: str
    printed: str | None = None
    """What it printed, without the head that Codex writes before it."""
    code: int | None = None
    failed: bool = False


def take_apart(output: Json) -> Answer:
    """An answer in any of the forms that versions of Codex have written."""
    if isinstance(output, list):
        parts = [text(mapping(part).get("text")) for part in output]
        words = "\n".join(filter(None, (part.strip("\n") if at == 0 else part for at, part in enumerate(parts))))
        return Answer(words, failed=words.startswith(_FAILED))
    words = text(output)
    if words.startswith('{"'):
        held = _held(words)
        if held is not None:
            return held
    head = words[:_HEAD]
    exited, body = _EXIT.search(head), head.find("Output:\n")
    if exited is None or 0 <= body < exited.start():
        printed = words[body + 8 :] if body >= 0 and _RUNNING in head else None
        return Answer(words, printed, failed=words.startswith(_FAILED))
    return Answer(words, words[body + 8 :] if body >= 0 else None, int(exited[1]))


def _held(words: str) -> Answer | None:
    """The answer that a text of JSON holds, as versions of 2025 wrote it."""
    try:
        held = msgspec.json.decode(words)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(held, dict) or not isinstance(held.get("output"), str) or "metadata" not in held:
        return None
    code = mapping(held["metadata"]).get("exit_code")
    known = isinstance(code, int) and not isinstance(code, bool)
    return Answer(held["output"], held["output"], code if known else None)


def is_running(words: str) -> bool:
    """Whether a command went on behind the answer that the model got."""
    return _RUNNING in words[:_HEAD]


def result_of(event: Event, call_id: str, output: Json, end: ToolEnd | None, detail: Detail) -> Result:
    """The result of a call from the answer that the model got and what an event told of its end."""
    answer = take_apart(output)
    failed = answer.failed if answer.code is None else answer.code != 0
    denial = "user-rejected" if answer.text[:200].lower().startswith(_REFUSED) else ""
    if end is not None:
        failed = failed if end.failed is None else end.failed
        denial = denial or end.denial
    words = "" if detail is Detail.FIGURES else answer.text
    result = answered(event, call_id, words, error=failed and not denial)
    if denial:
        result = replace(result, denial=denial)
    if detail is not Detail.ALL:
        return result
    images = tuple(_images(event, output))
    parts = tuple(part for part in items(output) if mapping(part).get("type") not in _SHOWN)
    return replace(result, images=images, parts=parts, detail=_twin(answer, end))


_SHOWN = ("input_text", "output_text", "text", "input_image", "inputText", "inputImage")


def _twin(answer: Answer, end: ToolEnd | None) -> Json:
    twin: dict[str, Any] = {}
    if answer.printed is not None:
        twin = {"stdout": answer.printed, "stderr": ""}
    if answer.code is not None:
        twin["exit_code"] = answer.code
    if end is not None:
        held = end.detail
        fuller = len(text(held.get("stdout"))) >= len(text(twin.get("stdout")))
        twin |= held if fuller else {name: value for name, value in held.items() if name not in ("stdout", "stderr")}
    return twin or None


def _images(event: Event, output: Json) -> list[Image]:
    kinds = ("input_image", "inputImage")
    held = (mapping(part) for part in items(output))
    return [
        picture(event, "", url=text(part.get("image_url")) or text(part.get("imageUrl")))
        for part in held
        if part.get("type") in kinds
    ]


def milliseconds(duration: Json) -> int:
    """A duration as Rust writes it, or in milliseconds."""
    held = mapping(duration)
    return whole(held.get("secs")) * 1000 + whole(held.get("nanos")) // 1_000_000 if held else whole(duration)
