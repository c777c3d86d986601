"""Lines of type user: prompts, results of tools, and what the agent says in the user's name."""

from datetime import datetime

from unspool.formats.claude_code import plans
from unspool.formats.claude_code.media import KINDS, image
from unspool.formats.claude_code.results import Spills, result
from unspool.formats.claude_code.tags import Segment, segments
from unspool.formats.claude_code.values import items, mapping, text
from unspool.model import Block, Event, Image, Json, Notice, Place, Prompt, Result, Unknown

_HUMAN = frozenset({"", "human"})
_PROMPT_SEGMENTS = {"": "text", "command": "command", "bash": "bash", "memory-input": "memory"}


def user(event: Event, data: dict[str, Json], spills: Spills) -> None:
    """Fill an event from a user line."""
    content = mapping(data.get("message")).get("content")
    typed: list[Segment] = []
    blocks: list[Block | Result] = []
    images: list[Image] = []
    if isinstance(content, str):
        _sort(segments(content), typed, blocks, event)
    else:
        for block in items(content):
            _block(block, data, event, (typed, blocks, images, spills))
        if content is not None and not isinstance(content, list):
            blocks.append(Unknown(event.place, "content", content, id=event.id, time=event.time))
    _settle(event, data, typed, (blocks, images))
    if event.prompt is None and not event.blocks:
        event.blocks = (Unknown(event.place, "user line without content", data, id=event.id, time=event.time),)


def _block(
    block: Json,
    data: dict[str, Json],
    event: Event,
    into: tuple[list[Segment], list[Block | Result], list[Image], Spills],
) -> None:
    typed, blocks, images, spills = into
    kind = text(block.get("type")) if isinstance(block, dict) else ""
    if kind == "tool_result":
        blocks.append(result(block, data, event, spills))
    elif kind == "text" and isinstance(block.get("text"), str):
        _sort(segments(block["text"]), typed, blocks, event)
    elif kind in KINDS:
        images.append(image(block, event.place))
    elif isinstance(block, str):
        _sort(segments(block), typed, blocks, event)
    else:
        blocks.append(Unknown(event.place, kind or "content", block, id=event.id, time=event.time))


def _sort(found: list[Segment], typed: list[Segment], blocks: list[Block | Result], event: Event) -> None:
    for segment in found:
        if segment.kind in _PROMPT_SEGMENTS:
            typed.append(segment)
        else:
            blocks.append(Notice(event.place, segment.kind, segment.text, segment.facts, event.id, event.time))


def _settle(
    event: Event, data: dict[str, Json], typed: list[Segment], rest: tuple[list[Block | Result], list[Image]]
) -> None:
    """Decide what the line is, now that its content is known."""
    blocks, images = rest
    answered = any(isinstance(block, Result) for block in blocks)
    kind = _injected(data, answered=answered)
    spoken = [segment for segment in typed if segment.text.strip() or segment.kind]
    if kind or not (spoken or images):
        _notice(event, kind or "", typed, rest)
        event.kind = "result" if answered else "notice"
        return
    event.kind = "prompt"
    event.prompt = prompt(event.place, spoken, tuple(images), data, (event.id, event.time))
    event.blocks = tuple(blocks)


def _injected(data: dict[str, Json], *, answered: bool) -> str:
    """Why the words of a line are not a person's; empty where they are."""
    if data.get("isCompactSummary") is True:
        return "summary"
    if data.get("isMeta") is True:
        return "skill" if data.get("sourceToolUseID") else "meta"
    origin = text(mapping(data.get("origin")).get("kind"))
    if origin not in _HUMAN:
        return origin
    if data.get("promptSource") == "system":
        return "meta"
    return "note" if answered else ""


def _notice(event: Event, kind: str, typed: list[Segment], rest: tuple[list[Block | Result], list[Image]]) -> None:
    blocks, images = rest
    words = "\n".join(segment.text for segment in typed if segment.text)
    if words or images:
        blocks.append(Notice(event.place, kind or "note", words, {}, event.id, event.time, tuple(images)))
    event.blocks = tuple(blocks)


def prompt(
    place: Place,
    spoken: list[Segment],
    images: tuple[Image, ...],
    data: dict[str, Json],
    stamp: tuple[str, datetime | None],
) -> Prompt:
    """The prompt made of typed segments."""
    special = next((segment for segment in spoken if segment.kind), None)
    words = "\n".join(segment.text for segment in spoken if segment.text.strip())
    mode, origin = text(data.get("permissionMode")), text(data.get("promptSource"))
    if special is not None:
        kind = _PROMPT_SEGMENTS[special.kind]
        command, arguments = text(special.facts.get("name")), text(special.facts.get("args"))
        return Prompt(place, kind, words, *stamp, command, arguments, images, mode=mode, origin=origin)  # type: ignore[arg-type]
    content = text(data.get("planContent"))
    if content or (words.startswith(plans.IMPLEMENT) and not images):
        plan, source = plans.accepted(words, content)
        return Prompt(place, "plan", words, *stamp, images=images, plan=plan, source=source, mode=mode, origin=origin)
    return Prompt(place, "text", words, *stamp, images=images, mode=mode, origin=origin)
