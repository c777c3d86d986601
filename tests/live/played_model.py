"""A server on the loopback that plays the model: it answers by a queue of steps and keeps every request."""

import http.server
import json
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import msgspec
import zstandard

from tests.live import answers, billing
from tests.live.answers import Data
from tests.live.steps import MATCH, Call, Step

DONE = Step(text="Done.", thinking="")
"""What is said when no step is left."""

HELD_AT_MOST = 120.0
"""Seconds after which a held step is answered though nobody let it go."""

SUMMARY = Step(text="<summary>The tide was computed.</summary>")
_SUMMARY = "Your task is to create a detailed summary"
"""What a compaction asks for."""


class Part:
    """The steps of one run of an agent, and what it asked. Its address is told to that run alone."""

    def __init__(self, number: int, steps: list[Step]) -> None:
        self.number = number
        self.requests: list[Data] = []
        self.not_offered: list[str] = []
        self.tokens = 0
        self.answered: dict[str, int] = {}
        self.released = threading.Event()
        self._queues: dict[str, list[Step]] = defaultdict(list)
        self._lock = threading.Lock()
        self._sought: set[str] = set()
        for step in steps:
            self._queues[step.within].append(step)
            for one in step.calls:  # a subagent without steps of its own must not take those of others
                if one.name == "Agent":
                    self._queues.setdefault(str(one.input["prompt"]), [])

    def count(self, asked: Data, tokens: int) -> None:
        """Add what an answer of the conversation used."""
        with self._lock:
            self.tokens += tokens if asked.get("tools") else 0

    @property
    def unplayed(self) -> list[str]:
        """Names of the calls that were never asked for."""
        return [one.name for queue in self._queues.values() for step in queue for one in step.calls]

    def next_step(self, asked: Data) -> Step:
        """The next step of whoever asks; tools that are not offered are looked for first, then left out."""
        talk = talk_of(asked)
        tools = (one for tool in asked.get("tools") or [] for one in tool.get("functionDeclarations") or [tool])
        offered = {str(tool.get("name", tool.get("type"))) for tool in tools}
        if _SUMMARY in json.dumps(talk[-1:]):
            return SUMMARY
        if not offered:  # a side question
            return DONE
        with self._lock:
            queue = self._queues[self._whose(talk)]
            while queue:
                missing = {one.name for one in queue[0].calls} - offered - self._sought
                if not missing or not queue[0].left_out:
                    return _filled(queue.pop(0), json.dumps(talk))
                deferred = missing & _deferred(talk)
                if deferred and "ToolSearch" in offered:
                    self._sought |= deferred
                    return Step((Call("ToolSearch", {"query": "select:" + ",".join(sorted(deferred))}),), thinking="")
                self.not_offered += sorted(missing)
                queue.pop(0)
        return DONE

    def _whose(self, talk: list[Data]) -> str:
        beginning = json.dumps(talk[:2])
        named = [name for name in self._queues if name and name in beginning]
        return max(named, key=lambda name: len(self._queues[name]), default="")


def talk_of(asked: Data) -> list[Data]:
    """The conversation as a request holds it, in any of the interfaces."""
    return asked.get("messages") or asked.get("input") or asked.get("contents") or []


def _filled(step: Step, said: str) -> Step:
    """A call's argument that begins with MATCH is what that pattern last found in what was sent."""
    return msgspec.structs.replace(step, calls=tuple(Call(one.name, _found(one.input, said)) for one in step.calls))


def _found(given: Data, said: str) -> Data:
    found = dict(given)
    for name, value in given.items():
        if isinstance(value, str) and value.startswith(MATCH):
            found[name] = (re.findall(value.removeprefix(MATCH), said) or ["nothing"])[-1]
    return found


def _deferred(talk: list[Data]) -> set[str]:
    """Tools that are named but must be looked for before they can be called."""
    listed = (text for text in texts(talk) if "deferred tools are now available" in text)
    return set(re.findall(r"^(\w+)$", "\n".join(listed), re.MULTILINE))


def texts(talk: list[Data]) -> Iterator[str]:
    """Every text of a conversation as it was sent; results of tools are none."""
    for message in talk:
        content = message.get("content") or []
        if isinstance(content, str):
            yield content
        else:
            yield from (str(block["text"]) for block in content if isinstance(block, dict) and "text" in block)


class PlayedModel:
    """The Messages, Responses and Gemini APIs on 127.0.0.1, at a port that the system chooses."""

    def __init__(self) -> None:
        self._cache = billing.Cache()
        self._parts: dict[int, Part] = {}
        played = self

        class Handler(_Handler):
            model = played

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def begin(self, steps: list[Step]) -> Part:
        """A part of its own for one run."""
        part = self._parts[len(self._parts)] = Part(len(self._parts), steps)
        return part

    def address(self, part: Part) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{part.number}"

    def part(self, path: str) -> Part | None:
        found = re.match(r"/(\d+)/", path)
        return self._parts.get(int(found[1])) if found else None

    def bill(self, asked: Data) -> billing.Used:
        parts = billing.pieces(asked) if "messages" in asked else billing.items(asked)
        return self._cache.bill(str(asked.get("model")), parts)


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that is stopped or goes breaks off; anything else is worth a trace."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: PlayedModel

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}', status=404 if "responses" in self.path else 200)

    def do_POST(self) -> None:
        asked = self._asked()
        part = self.model.part(self.path)
        where = self.path.split("?")[0]
        if part is None:
            self._send(b"{}", status=404)
        elif where.endswith("/count_tokens"):
            size = sum(piece.size for piece in billing.pieces(asked))
            self._send(json.dumps({"input_tokens": billing.tokens(size)}).encode())
        elif where.endswith(("/messages", "/responses")):
            self._answer(part, asked)
        elif where.endswith((":generateContent", ":streamGenerateContent")):
            model, _, way = where.rpartition("/")[2].partition(":")
            self._answer(part, {**asked, "model": model, "stream": way.startswith("stream")})
        else:
            self._send(b"{}", status=404)

    def _asked(self) -> Data:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        try:
            asked = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return asked if isinstance(asked, dict) else {}

    def _answer(self, part: Part, asked: Data) -> None:
        part.requests.append(asked)
        if "messages" in asked and (forced := _forced(asked)):
            return self._message(part, asked, forced, Step())
        step = part.next_step(asked)
        if step.held:
            part.released.wait(HELD_AT_MOST)
        if step.status != 200:
            return self._send(json.dumps(answers.error(step.status, step.message)).encode(), status=step.status)
        if "contents" in asked:
            said = answers.candidate(asked, step, self.model.bill(asked))
            part.count(asked, said["usageMetadata"]["totalTokenCount"])
            data = json.dumps(said)
            kind = "text/event-stream" if asked["stream"] else "application/json"
            return self._send((f"data: {data}\n\n" if asked["stream"] else data).encode(), kind)
        if "input" in asked:
            events = answers.response_events(asked, step, self.model.bill(asked))
            part.count(asked, events[-1]["response"]["usage"]["total_tokens"])
            return self._send(answers.streamed(events), "text/event-stream")
        return self._message(part, asked, answers.blocks(step), step)

    def _message(self, part: Part, asked: Data, content: list[Data], step: Step) -> None:
        used = self.model.bill(asked)
        whole = answers.message(str(asked.get("model")), content, used, step.stop)
        part.count(asked, used.whole + whole["usage"]["output_tokens"])
        part.answered[whole["id"]] = used.whole + whole["usage"]["output_tokens"]
        if asked.get("stream"):
            events = answers.message_events(whole)
            self._send(answers.streamed(events[:-3] if step.cut else events), "text/event-stream")
        else:
            self._send(json.dumps(whole).encode())

    def _send(self, data: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", answers.new_id("req"))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _forced(asked: Data) -> list[Data]:
    """What a request leaves no choice about: a search, one tool that must be called, a form that must be filled in."""
    tools = asked.get("tools") or []
    if any(str(tool.get("type", "")).startswith("web_search") for tool in tools):
        return answers.searched("tides")
    choice = asked.get("tool_choice") or {}
    schemas = {tool.get("name"): tool.get("input_schema") or {} for tool in tools}
    if choice.get("type") == "tool" and choice.get("name") in schemas:
        given = answers.fitting(schemas[choice["name"]])
        return [{"type": "tool_use", "id": answers.new_id("toolu"), "name": choice["name"], "input": given}]
    form = (asked.get("output_config") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        return [{"type": "text", "text": json.dumps(answers.fitting(form.get("schema") or {}))}]
    return []
