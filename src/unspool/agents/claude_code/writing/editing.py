"""Edits of a line's message: calls, results, thinking, pictures and words cut or shortened."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.lines import sound_value
from unspool.agents.writing import HIDDEN, STUB, Cut, Cuts, shorten_value, stub_text
from unspool.model import Json

_NEWS_MORE = " (remaining content truncated)"
_NEWS = 150
_RESULT = re.compile(r"(?s)(<result>)(.*)(</result>)")


def stub(content: Json) -> Json:
    """One line in place of an answer, telling how long it was."""
    if isinstance(content, str):
        return stub_text(content)
    if not isinstance(content, list):
        return content
    texts = [block["text"] for block in content if _is_text(block)]
    others = [block for block in content if not _is_text(block) and not _is_picture(block)]
    pictures = sum(_is_picture(block) for block in content)
    told = f"{sum(map(len, texts)):,} characters" + (f", {pictures} pictures" if pictures else "")
    made = [{"type": "text", "text": f"{STUB}{told}]"}, *others]
    keeps = not pictures and sum(map(len, texts)) <= len(STUB) + len(told) + 1
    stubbed = len(texts) == 1 and texts[0].startswith(STUB) and not pictures
    return content if keeps or stubbed else made


def without_result(text: str) -> str:
    """News of a background agent with only the beginning of what it found."""
    return _RESULT.sub(_brief, text, count=1) if text.lstrip().startswith("<task-notification>") else text


def without_findings(text: str) -> str:
    """News of a background task without anything of what it found."""
    return _RESULT.sub(r"\1[left out]\3", text) if text.lstrip().startswith("<task-notification>") else text


def _brief(match: re.Match[str]) -> str:
    found = match[2]
    if len(found) <= _NEWS + len(_NEWS_MORE):
        return match[0]
    return f"{match[1]}{found[:_NEWS]}{_NEWS_MORE}{match[3]}"


def _is_text(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _is_picture(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image", "document")


_CALLS = frozenset({"tool_use"})
_REASONING = frozenset({"thinking", "redacted_thinking"})
_PICTURES = frozenset({"image", "document"})
_LEFT_OUT = {"image": "[image left out]", "document": "[document left out]"}

_Made = Callable[[dict[str, Any]], Iterator[Json]]


def edit_line(raw: bytes, line: str, cuts: Cuts) -> bytes | None:
    """The line after the cuts: the same object where nothing changes, None where nothing is left of it."""
    if line in cuts.lines:
        return None
    data = sound_value(raw)
    if cuts.calls.get(str(data.get("sourceToolUseID"))) == "remove":
        return None  # what a call brought into the conversation goes with it
    message = data.get("message")
    if not isinstance(message, dict):
        return _attachment(data, raw, line, cuts)
    before = message.get("content")
    after = _Edit(line, cuts).content(before)
    if after is before:
        return raw
    if not after:
        return None
    message["content"] = after
    data.pop("toolUseResult", None)  # the structured twin of a block that is no more what it was
    return msgspec.json.encode(data) + b"\n"


def leans(parts: Iterable[object]) -> bool:
    """Whether an answer made tools known that later calls need."""
    return any(isinstance(part, dict) and part.get("type") == "tool_reference" for part in parts)


def _attachment(data: dict[str, Any], raw: bytes, line: str, cuts: Cuts) -> bytes | None:
    if line in cuts.untold:
        return None
    if line not in cuts.images:
        return raw
    attached = data.get("attachment")
    inner = attached.get("content") if isinstance(attached, dict) else None
    is_picture = isinstance(inner, dict) and inner.get("type") in ("image", "pdf")
    return None if is_picture else raw


class _Edit:
    """The cuts of one line."""

    def __init__(self, line: str, cuts: Cuts) -> None:
        self._line, self._cuts = line, cuts
        self._words = cuts.texts.get(line)
        self._seen: set[str] = set()

    def content(self, content: Json) -> Json:
        """The content of a message; the same object where it stays as it is."""
        if isinstance(content, str):
            return self._text(content)
        if not isinstance(content, list):
            return content
        made = [new for block in content for new in self._block(block)]
        same = len(made) == len(content) and all(new is old for new, old in zip(made, content, strict=True))
        return content if same else made

    def _text(self, text: str) -> str:
        if self._words is not None:
            return self._words
        if self._line in self._cuts.untold:
            return without_findings(text)
        return without_result(text) if self._line in self._cuts.news else text

    def _block(self, block: Json) -> Iterator[Json]:
        kind = _kind(block)
        if kind in _REASONING and self._line in self._cuts.thinking:
            return
        if kind in _PICTURES and self._line in self._cuts.images:
            yield {"type": "text", "text": _LEFT_OUT[kind]}
        elif kind == "text":
            yield from self._words_of(block)
        elif kind in _CALLS:
            yield from self._once(block, "id", self._call)
        elif isinstance(block, dict) and isinstance(block.get("tool_use_id"), str):
            yield from self._once(block, "tool_use_id", self._result)
        elif isinstance(block, dict) and self._cut(block.get("id")) == "remove":
            return  # a call that the model's provider ran, whose answer goes too
        else:
            yield block

    def _words_of(self, block: dict[str, Any]) -> Iterator[Json]:
        """The first text of a line takes the new words; the others are in them."""
        text = block.get("text")
        if self._line in self._cuts.blank and isinstance(text, str) and not text.strip():
            return
        if self._line not in self._cuts.texts:
            cut = self._text(text) if isinstance(text, str) else text
            yield block if cut == text else {**block, "text": cut}
        elif self._words is not None:
            words, self._words = self._words, None
            yield {**block, "text": words}

    def _once(self, block: dict[str, Any], name: str, made: _Made) -> Iterator[Json]:
        """The block as made, unless its like stood before in a line that holds some more than once."""
        key = f"{name} {block.get(name)}"
        if self._line in self._cuts.twice and key in self._seen:
            return
        self._seen.add(key)
        yield from made(block)

    def _cut(self, call: Json) -> Cut | None:
        if not isinstance(call, str):
            return None
        return "remove" if (self._line, call) in self._cuts.gone else self._cuts.calls.get(call)

    def _call(self, block: dict[str, Any]) -> Iterator[Json]:
        cut = self._cut(block.get("id"))
        if cut in (None, "hide"):
            yield block
        elif cut != "remove":
            given = block.get("input")
            shorter = shorten_value(given, self._cuts.limits)
            yield block if shorter == given else {**block, "input": shorter}

    def _result(self, block: dict[str, Any]) -> Iterator[Json]:
        cut = self._cut(block.get("tool_use_id"))
        if cut == "remove":
            return
        content = block.get("content")
        after = content
        if block.get("type") == "tool_result":
            if self._line in self._cuts.images and isinstance(content, list):
                after = [_left_out(inner) for inner in content]
            if cut == "truncate":
                after = shorten_value(after, self._cuts.limits)
            elif cut == "stub":
                after = stub(after)
            elif cut == "hide":
                after = [{"type": "text", "text": HIDDEN}]
        yield block if after == content else {**block, "content": after}


def _left_out(block: Json) -> Json:
    kind = _kind(block)
    return {"type": "text", "text": _LEFT_OUT[kind]} if kind in _PICTURES else block


def _kind(block: Json) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""
