"""Edits of an entry: calls, answers, reasoning, pictures and words cut or shortened."""

from typing import Any

import msgspec

from unspool.agents.events import words_of
from unspool.agents.lines import sound_value
from unspool.agents.values import items, mapping, text
from unspool.agents.writing import HIDDEN, Cut, Cuts, shorten_value, stub_text, truncate

_PICTURE = {"type": "text", "text": "[image left out]"}


class EntryEdit:
    """The cuts of one entry."""

    def __init__(self, line: str, cuts: Cuts) -> None:
        self._line, self._cuts = line, cuts

    def made(self, raw: bytes) -> bytes | None:
        """The entry after the cuts: the same object where nothing changes, None where nothing is left."""
        if self._line in self._cuts.lines:
            return None
        data = sound_value(raw)
        message = mapping(data.get("message"))
        match message.get("role"):
            case "assistant":
                after = self._answer(message)
            case "toolResult":
                after = self._result(message)
            case "user" | "bashExecution":
                after = self._prompt(message)
            case _:
                return raw
        if after is None or after == message:
            return None if after is None else raw
        return msgspec.json.encode({**data, "message": after}) + b"\n"

    def _cut(self, call: str) -> Cut | None:
        return "remove" if (self._line, call) in self._cuts.gone else self._cuts.calls.get(call)

    def _answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        before, kept = items(message.get("content")), []
        loose = self._line in self._cuts.thinking and any(mapping(one).get("type") == "thinking" for one in before)
        calls: set[str] = set()
        for block in map(mapping, before):
            match block.get("type"):
                case "thinking" if loose:
                    continue
                case "text" if self._line in self._cuts.blank and not text(block.get("text")).strip():
                    continue
                case "toolCall":
                    call = text(block.get("id"))
                    if self._cut(call) == "remove" or (call in calls and self._line in self._cuts.twice):
                        continue
                    calls.add(call)
            short = self._shortened(block)
            kept.append(_unbound(short) if loose else short)
        return {**message, "content": self._reworded(kept)} if kept or not before else None

    def _shortened(self, block: dict[str, Any]) -> dict[str, Any]:
        if block.get("type") != "toolCall" or self._cut(text(block.get("id"))) not in ("truncate", "stub"):
            return block
        return {**block, "arguments": shorten_value(block.get("arguments"), self._cuts.limits)}

    def _result(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """What a tool answered; `details`, which tell it again for the screen, go with what they tell."""
        cut = self._cut(text(message.get("toolCallId")))
        if cut == "remove":
            return None
        made = self._unpictured(message)
        content = made.get("content")
        if cut == "truncate":
            made["content"] = [
                {**part, "text": truncate(part["text"], self._cuts.limits)} if _is_text(part) else part
                for part in items(content)
            ]
        elif cut in ("stub", "hide"):
            said = HIDDEN if cut == "hide" else stub_text(words_of(content))
            made["content"] = [{"type": "text", "text": said}]
        if made.get("content") != message.get("content"):
            made.pop("details", None)
        return made

    def _prompt(self, message: dict[str, Any]) -> dict[str, Any]:
        made = self._unpictured(message)
        words = self._cuts.texts.get(self._line)
        if words is not None and message.get("role") == "bashExecution":
            return {**made, "command": words}
        if words is not None and isinstance(made.get("content"), str):
            return {**made, "content": words}
        return {**made, "content": self._reworded(items(made["content"]))} if words is not None else made

    def _unpictured(self, message: dict[str, Any]) -> dict[str, Any]:
        content = message.get("content")
        if self._line not in self._cuts.images or not isinstance(content, list):
            return dict(message)
        return {**message, "content": [_PICTURE if mapping(one).get("type") == "image" else one for one in content]}

    def _reworded(self, content: list[Any]) -> list[Any]:
        """The parts with the new words in place of the first text; the others are in them."""
        words = self._cuts.texts.get(self._line)
        first = next(filter(_is_text, content), None)
        if words is None or first is None:
            return content
        kept = (one for one in content if one is first or not _is_text(one))
        return [{"type": "text", "text": words} if one is first else one for one in kept]


def _unbound(block: dict[str, Any]) -> dict[str, Any]:
    """A block without the provider's name for it, which is only taken beside the reasoning that it came with."""
    made = {name: value for name, value in block.items() if name != "textSignature"}
    if block.get("type") == "toolCall":
        made["id"] = text(block.get("id")).partition("|")[0]
    return made


def _is_text(part: Any) -> bool:
    return isinstance(mapping(part).get("text"), str)
