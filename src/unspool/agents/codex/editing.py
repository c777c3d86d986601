"""Edits of a record: calls, answers, reasoning, pictures and words cut or shortened."""

from typing import Any

import msgspec

from unspool.agents.codex.items import ANSWERS
from unspool.agents.codex.outputs import is_end
from unspool.agents.events import words_of
from unspool.agents.lines import sound_value
from unspool.agents.values import decode_object, items, mapping, text
from unspool.agents.writing import HIDDEN, Cut, Cuts, shorten_value, stub_text, truncate
from unspool.model import Json

_PICTURE = {"type": "input_text", "text": "[image left out]"}


def typed_words(data: dict[str, Any]) -> str:
    """The words of a record that tells a prompt."""
    said = mapping(data.get("payload"))
    parts = items(mapping(said.get("item")).get("content"))
    return (text(said.get("message")) or words_of([one for one in parts if mapping(one).get("type") == "text"])).strip()


class RecordEdit:
    """The cuts of one record."""

    def __init__(self, line: str, cuts: Cuts) -> None:
        self._line, self._cuts = line, cuts
        self._words = cuts.texts.get(line)

    def made(self, raw: bytes) -> bytes | None:
        """The record after the cuts: the same object where nothing changes, None where nothing is left."""
        if self._line in self._cuts.lines:
            return None
        data = sound_value(raw)
        enveloped = isinstance(data.get("payload"), dict)
        said = data["payload"] if enveloped else data
        inner = said.get("item") if isinstance(said.get("item"), dict) else said
        after = self._item(inner)
        if after is None:
            return None
        if after is inner:
            return raw
        if inner is not said:
            said["item"] = after
        elif enveloped:
            data["payload"] = after
        else:
            data = after
        return msgspec.json.encode(data) + b"\n"

    def _item(self, item: dict[str, Any]) -> dict[str, Any] | None:
        kind = text(item.get("type"))
        call = text(item.get("call_id")) or text(item.get("id"))
        cut: Cut | None = "remove" if (self._line, call) in self._cuts.gone else self._cuts.calls.get(call)
        if kind == "reasoning":
            return None if self._line in self._cuts.thinking else item
        if kind in ("message", "user_message", "UserMessage"):
            return self._message(item)
        if cut == "remove" or (cut is not None and is_end(kind)):
            return None
        if kind in (*ANSWERS, "tool_search_output"):
            return self._answer(item, cut)
        if cut in ("truncate", "stub") and kind in ("function_call", "custom_tool_call"):
            return self._call(item)
        return item

    def _call(self, item: dict[str, Any]) -> dict[str, Any]:
        """A call with what it was given shortened; arguments stay an object."""
        name = "arguments" if "arguments" in item else "input"
        given = item.get(name)
        held = decode_object(given) if name == "arguments" else given
        short = shorten_value(held, self._cuts.limits)
        if short == held or not isinstance(given, str):
            return item
        return {**item, name: short if isinstance(short, str) else msgspec.json.encode(short).decode()}

    def _answer(self, item: dict[str, Any], cut: Cut | None) -> dict[str, Any]:
        output = item.get("output")
        after = output
        if self._line in self._cuts.images:
            after = (
                [_PICTURE if "image_url" in mapping(part) else part for part in output]
                if isinstance(output, list)
                else output
            )
        if cut == "truncate":
            after = self._shortened(after)
        elif cut == "stub":
            after = stub_text(words_of(after))
        elif cut == "hide":
            after = HIDDEN
        return item if after == output else {**item, "output": after}

    def _shortened(self, output: Json) -> Json:
        if isinstance(output, str):
            return truncate(output, self._cuts.limits)
        return [
            {**part, "text": truncate(part["text"], self._cuts.limits)}
            if isinstance(mapping(part).get("text"), str)
            else part
            for part in items(output)
        ]

    def _message(self, item: dict[str, Any]) -> dict[str, Any]:
        """A message with other words, or without its pictures."""
        made = dict(item)
        if self._words is not None:
            if isinstance(made.get("message"), str):
                made["message"] = self._words
            else:
                made["content"] = self._reworded(items(made.get("content")))
        if self._line in self._cuts.images:
            made |= {name: [] for name in ("images", "local_images") if made.get(name)}
            if isinstance(made.get("content"), list):
                kept = [part for part in made["content"] if "image" not in text(mapping(part).get("type"))]
                made["content"] = kept or [_PICTURE]
        return item if made == item else made

    def _reworded(self, content: list[Any]) -> list[Any]:
        """The parts with the new words in place of the first text; the others are in them."""
        first = next(filter(_is_text, content), None)
        kept = (one for one in content if one is first or not _is_text(one))
        return [{**mapping(one), "text": self._words} if one is first else one for one in kept]


def _is_text(part: Json) -> bool:
    return isinstance(mapping(part).get("text"), str)
