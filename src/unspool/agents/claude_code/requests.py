"""Requests that a log keeps whole (since 2.1.28x), put together again from `api-request`, its shape and its blobs.

A request names its messages by hashes. Those of messages that no line of the conversation holds as they were sent
stand in `api-request-blob` lines; all others are the SHA-256 of a message as the lines hold it: JSON with sorted keys
and no blanks, content as a list of blocks, without `cache_control`.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.claude_code.line import line_of
from unspool.agents.claude_code.messages import CallMemory, MessageParser, ResultParser
from unspool.agents.claude_code.prompts import parse_user
from unspool.agents.records import Detail
from unspool.agents.values import items, mapping, moment, text, whole
from unspool.model import Entry, Event, Json, Notice, Place
from unspool.model.request import SentMessage, SentRequest

_NOWHERE = Place(0, 0, 0)
_LONGEST = 100_000
"""Messages that a request may have; more is a damaged log's."""


class ClaudeRequests:
    """What the lines of a log keep of requests, gathered in one pass."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._requests: dict[str, dict[str, Json]] = {}
        self._shapes: dict[str, dict[str, Any]] = {}
        self._contents: dict[str, tuple[str, list[Json], str]] = {}
        """Role, content and, of an answer, its id, by hash."""
        self._messages: dict[str, SentMessage] = {}
        self._last: tuple[str, tuple[str, ...]] = "", ()
        """The request whose messages were asked for last, and their hashes."""
        lines = _Lines()
        for entry in entries:
            if entry.data is not None:
                self._take(entry.data, lines)
        for role, content, answer in lines.messages():
            if content and (key := _hash(role, content)):
                self._contents.setdefault(key, (role, content, answer))

    def _take(self, data: dict[str, Json], lines: "_Lines") -> None:
        match data.get("type"):
            case "api-request" if identity := text(data.get("id")):
                self._requests[identity] = data
            case "api-request-shape" if key := text(data.get("shapeHash")):
                self._shapes[key] = mapping(data.get("shape"))
            case "api-request-blob" if key := text(data.get("hash")):
                message = mapping(data.get("message"))
                self._contents[key] = text(message.get("role")), _blocks(message.get("content")), ""
            case "assistant":
                lines.answer(mapping(data.get("message")))
            case "user":
                lines.ask(mapping(data.get("message")))

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[str]:
        return iter(self._requests)

    def get(self, request: str) -> SentRequest | None:
        """A request by its id, or by the first characters of it."""
        identity = request if request in self._requests else next(
            (known for known in self._requests if request and known.startswith(request)), ""
        )  # fmt: skip
        if not identity:
            return None
        data, frame = self._requests[identity], self.frame(identity)
        keys = self.message_keys(identity)
        messages = tuple(map(self.message, keys))
        parameters = mapping(data.get("params"))
        system, tools = frame or ((), ())
        return SentRequest(
            identity,
            text(parameters.get("model")),
            moment(data.get("timestamp")),
            text(data.get("querySource")),
            system,
            tools,
            messages,
            parameters,
            self._body(data, keys),
            frame is not None and all(message.known for message in messages),
        )

    def _body(self, data: dict[str, Json], keys: Iterable[str]) -> dict[str, Any]:
        """The request with its breakpoints of the cache; a message that the log does not hold has its hash alone."""
        contents = ((key, self._contents.get(key)) for key in keys)
        messages = [
            {"role": found[0], "content": list(found[1])} if found is not None else {"hash": key}
            for key, found in contents
        ]
        shape = self._shapes.get(text(data.get("shapeHash")), {})
        body = {**mapping(data.get("params")), **{name: list(items(part)) for name, part in shape.items()}}
        body["messages"] = messages
        for point in map(mapping, items(data.get("cacheControl"))):
            _set_cache_control(body, items(point.get("path")), point.get("value"))
        return body

    def message_keys(self, request: str) -> tuple[str, ...]:
        """Hashes of its messages: some of an earlier request's, then those that it adds."""
        chain: list[dict[str, Json]] = []
        seen: set[str] = set()
        keys: list[str] = []
        at = request
        while at in self._requests and at not in seen:
            if at == self._last[0]:  # most requests go on from the one before
                keys = list(self._last[1])
                break
            seen.add(at)
            chain.append(self._requests[at])
            at = text(chain[-1].get("base"))
        for data in reversed(chain):
            del keys[whole(data.get("keep")) :]
            keys.extend(text(key) for key in items(data.get("tail"))[: _LONGEST - len(keys)])
        self._last = request, tuple(keys)
        return self._last[1]

    def message(self, key: str) -> SentMessage:
        """The message with that hash; one without content where the log does not hold it."""
        if key not in self._messages:
            found = self._contents.get(key)
            self._messages[key] = _message(*found) if found is not None else SentMessage("", known=False)
        return self._messages[key]

    def frame(self, request: str) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]] | None:
        """System prompt and definitions of tools; None where the log does not hold them."""
        shape = self._shapes.get(text(self._requests[request].get("shapeHash")))
        if shape is None:
            return None
        system = tuple(text(mapping(block).get("text")) for block in _blocks(shape.get("system")))
        return system, tuple(tool for tool in items(shape.get("tools")) if isinstance(tool, dict))


class _Lines:
    """Messages as they may have been sent, from lines that each hold a piece: by answer, by line, by run of lines."""

    def __init__(self) -> None:
        self._answers: dict[str, list[Json]] = {}
        self._asked: list[list[Json]] = []
        self._results: dict[str, list[Json]] = {}
        """Results of one answer's calls, which lines of that answer may stand between."""
        self._runs: list[list[Json]] = [[]]
        self._callers: dict[str, str] = {}

    def answer(self, message: dict[str, Any]) -> None:
        identity, content = text(message.get("id")), _blocks(message.get("content"))
        self._answers.setdefault(identity, []).extend(content)
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._callers[text(block.get("id"))] = identity
        if self._runs[-1]:
            self._runs.append([])

    def ask(self, message: dict[str, Any]) -> None:
        content = _blocks(message.get("content"))
        self._asked.append(content)
        self._runs[-1].extend(content)
        for block in content:
            if isinstance(block, dict) and (caller := self._callers.get(text(block.get("tool_use_id")))):
                self._results.setdefault(caller, []).append(block)

    def messages(self) -> Iterator[tuple[str, list[Json], str]]:
        """Role, content, and the id of an answer."""
        yield from (("assistant", content, name) for name, content in self._answers.items())
        for contents in (self._asked, self._results.values(), self._runs):
            yield from (("user", content, "") for content in contents)


def _message(role: str, content: list[Json], answer: str) -> SentMessage:
    """A message understood as a line of the conversation would be."""
    event, calls = Event("notice", _NOWHERE), CallMemory()
    line = line_of({"message": {"role": role, "content": content}})
    if role == "assistant":
        MessageParser(Detail.ALL, calls).parse(event, line)
    elif role == "user":
        parse_user(event, line, ResultParser(lambda _: None, Detail.ALL, calls))
    else:
        words = "\n\n".join(text(mapping(block).get("text")) for block in content)
        event.blocks = (Notice(_NOWHERE, "reminder", words),)
    return SentMessage(role, event.prompt, event.blocks, answer)


def _set_cache_control(body: Any, path: list[Json], value: Json) -> None:
    """Put a breakpoint where it stood; what the path does not lead to stays as it is."""
    at: Any = body
    for place, step in enumerate(path):
        inside = isinstance(at, list) and isinstance(step, int) and 0 <= step < len(at)
        if not inside and not (isinstance(at, dict) and isinstance(step, str) and step in at):
            return
        if place == len(path) - 1 and isinstance(at[step], dict):
            at[step] = {**at[step], "cache_control": value}
            return
        at = at[step]


def _blocks(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_uncached(block) for block in items(content)]


def _uncached(block: Json) -> Json:
    if isinstance(block, dict) and "cache_control" in block:
        return {name: value for name, value in block.items() if name != "cache_control"}
    return block


def _hash(role: str, content: list[Json]) -> str:
    try:
        data = msgspec.json.encode({"role": role, "content": content}, order="deterministic")
    except (ValueError, TypeError, OverflowError, RecursionError):
        return ""  # numbers and halves of characters that no writer takes
    return hashlib.sha256(data).hexdigest()
