"""Makes events of what agents log: prompts, answers, calls, results, notices. For readers of plain data."""

from collections.abc import Sequence

from unspool.agents.values import items, mapping, text
from unspool.model import (
    Block,
    Event,
    Image,
    Json,
    Notice,
    Part,
    Place,
    Prompt,
    PromptKind,
    Result,
    SideLine,
    Text,
    Thinking,
    ToolCall,
    Unknown,
)


def as_prompt(event: Event, words: str, images: tuple[Image, ...] = (), kind: PromptKind = "text") -> Event:
    """What a person typed."""
    event.kind, event.turn = "prompt", True
    event.prompt = Prompt(event.place, kind, words, event.id, event.time, images=images)
    return event


def as_message(event: Event, part: Part, blocks: Sequence[Block]) -> Event:
    """A piece of a model's answer; all pieces with one `part.message` are one."""
    event.kind, event.turn, event.part, event.blocks = "message", True, part, tuple(blocks)
    return event


def as_result(event: Event, result: Result) -> Event:
    """What a tool answered."""
    event.kind, event.turn, event.blocks = "result", True, (result,)
    return event


def as_notice(event: Event, kind: str, words: str = "", facts: dict[str, Json] | None = None) -> Event:
    """What happened around the conversation."""
    event.blocks = (Notice(event.place, kind, words, facts or {}, event.id, event.time),)
    return event


def as_unknown(event: Event, what: str, data: Json) -> Event:
    """A record of a kind that this version does not know, whole."""
    event.blocks = (Unknown(event.place, what or "record", data, id=event.id, time=event.time),)
    return event


def beside(place: Place, kind: str, data: Json) -> Event:
    """A record that is no part of the conversation."""
    return Event("side", place, side=SideLine(place, kind or "record", data))


def said(event: Event, message: str, words: str) -> Text:
    return Text(event.place, words, message, event.id, event.time)


def thought(event: Event, message: str, words: str, signature: str = "") -> Thinking:
    """Reasoning; without words it was kept from the log, or encrypted."""
    return Thinking(event.place, words, message, event.id, event.time, signature, redacted=not words)


def called(event: Event, message: str, call_id: str, name: str, given: Json, role: str) -> ToolCall:
    place = event.place
    return ToolCall(place, call_id, name, given, "unanswered", role, message=message, id=event.id, time=event.time)


def answered(event: Event, call_id: str, words: str, *, error: bool = False) -> Result:
    return Result(event.place, call_id, words, error, id=event.id, time=event.time)


def words_of(value: Json) -> str:
    """A text, or the texts of a list of parts, a line each."""
    return text(value) or "\n".join(filter(None, (text(mapping(one).get("text")) for one in items(value))))


def picture(event: Event, media_type: str, data: str = "", url: str = "", label: str = "") -> Image:
    """A picture by its data in base64, or its address; an address that holds the data is taken apart."""
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        media_type, url = head[5:].split(";")[0] or media_type, ""
    return Image(event.place, media_type or "image/png", data, url, label=label, id=event.id, time=event.time)
