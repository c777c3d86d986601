"""Records of a rollout to events: turns, prompts, requests, and what a thread copied from the one it came from."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.agents.codex import items as model_items
from unspool.agents.codex import screen
from unspool.agents.codex.history import CopiedHistory
from unspool.agents.codex.meanings import plan_title
from unspool.agents.codex.outputs import ToolEnd, is_running, result_of
from unspool.agents.events import answered, as_message, as_notice, as_prompt, as_result, as_unknown, beside, words_of
from unspool.agents.lines import PlainParser
from unspool.agents.records import Detail
from unspool.agents.values import items, mapping, moment, text, whole
from unspool.model import Block, Event, HistoryBase, Image, Json, Part, Place, Plan, Result, Unknown, Usage

_QUIET = frozenset({"world_state", "inter_agent_communication_metadata", "security_risk_score"})
_SPOKEN = model_items.ITEMS - {*model_items.ANSWERS, "tool_search_output", "agent_message"}
_SHORTEST_ID = 16
"""A turn's id that is shorter is a number, which other threads have as well."""
_decode = msgspec.json.Decoder().decode
_COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


class CodexParser(PlainParser):
    """Understands the records of one rollout, in order. `name` is what the list of names calls the thread; None where
    it has no name for it."""

    def __init__(self, session: str = "", name: str | None = None, detail: Detail = Detail.ALL) -> None:
        super().__init__()
        self.detail = detail
        self.copied = CopiedHistory()
        self.ends: dict[str, ToolEnd] = {}
        """What events told of calls whose answers are still to come."""
        self.subagent = ""
        self.mode = ""
        self.plan = ""
        """The last plan, as long as nobody accepted it."""
        self._name = name
        self._scope = session
        """What the ids of events begin with: the turn, or the thread before its first turn."""
        self.message = f"{session}/r0"
        """The id of the answer that the next items are pieces of: all that one request gave."""
        self._counts: dict[str, int] = {}
        self._model = self._effort = ""
        self._answered = False
        """Whether a call was answered since the model last spoke: what it says next is another request's."""
        self._total: Json = None
        self._last = ""
        self._starts: list[str] = []
        """By prompt, the id of the last event before its turn."""
        self._before_turn: str | None = None
        self._heard: dict[str, bool] = {}
        """Prompts since the model last spoke; whether an event told them, and not an item."""
        self._tells_prompts = False
        self._running: set[str] = set()
        self._header: datetime | None = None

    def usual(self, raw: bytes, place: Place) -> Event | None:
        try:
            data = _decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
        return self.line(data, place) if isinstance(data, dict) else None

    def line(self, data: dict[str, Json], place: Place) -> Event:
        event = self._understood(data, place)
        self._last = event.id or self._last
        return event

    def _understood(self, data: dict[str, Json], place: Place) -> Event:
        payload, record = data.get("payload"), text(data.get("type"))
        time = moment(data.get("timestamp")) or self._header
        self.note_time(time)
        if not self.copied.over and self.copied.holds(data, time) and self.subagent:
            return beside(place, "copied history", data)
        if not isinstance(payload, dict):
            return self._bare(data, place, record)
        if record == "response_item":
            return self.item(payload, place, time)
        if record == "event_msg":
            return screen.told(self, payload, place, time, data)
        handle = _RECORDS.get(record)
        if handle is not None:
            return handle(self, payload, place, time, data)
        if record in _QUIET:
            return beside(place, record, data)
        return as_unknown(self.begin(place, time, "unknown"), record or "line", data)

    def begin(self, place: Place, time: datetime | None, kind: str, own: str = "") -> Event:
        """An event that follows the one before it. Its id is the same in every copy of its turn."""
        if len(own) < _SHORTEST_ID:
            key = f"{self._scope}/{kind}"
            number = self._counts[key] = self._counts.get(key, 0) + 1
            identity = f"{key}{number}"
        else:
            identity = f"{self._scope}/{own}"
        return Event(
            "notice", place, identity, link=True, time=time, sidechain=bool(self.subagent), agent=self.subagent
        )

    def _go_on_in(self, scope: str) -> None:
        if scope != self._scope:
            self._scope = scope
            self.message = f"{scope}/r{self._counts.get(f'{scope}/r', 0)}"

    def say(
        self, event: Event, blocks: tuple[Block | Result, ...], usage: Usage | None = None, request: str = ""
    ) -> Event:
        """A piece of a model's answer, or what a request used whose pieces came before."""
        part = Part(self.message, request, self._model, usage, "end" if usage else "", effort=self._effort)
        event = as_message(event, part, ())
        event.blocks = blocks
        return event

    def prompt(self, event: Event, words: str, images: tuple[Image, ...], *, told: bool) -> Event | None:
        """What a person typed; None where it says again what was typed already, and nobody has answered yet."""
        words = words.strip()
        self._tells_prompts = self._tells_prompts or told
        for known, was_told in self._heard.items():
            if words == known or (was_told != told and words and known and (words in known or known in words)):
                return None
        self._heard[words] = told
        self._starts.append(self._before_turn if self._before_turn is not None else self._last)
        self._before_turn = None
        self.facts.first_mode = self.facts.first_mode or self.mode or "default"
        event = as_prompt(event, words, images)
        if self.plan and self.mode != "plan" and event.prompt is not None:
            accepted = Plan(plan_title(self.plan), self.plan, "approved")
            event.prompt, self.plan = replace(event.prompt, plan=accepted), ""
        return event

    def renamed(self, name: str) -> None:
        """Take a name that the log tells; what the list of names says counts more."""
        if self._name is None:
            self.facts.custom_title = name.strip()

    def turn(self, turn: str, *, started: bool = False) -> None:
        """Go on in a turn; one that starts is asked for its prompts anew."""
        if turn:
            self._go_on_in(turn if len(turn) >= _SHORTEST_ID else f"{self.facts.session}:{turn}")
        if started:
            self._tells_prompts = True
            self._heard.clear()
            self._before_turn = self._last

    def roll_back(self, event: Event, turns: int) -> Event:
        """Let what follows leave the conversation before its last turns."""
        gone = self._starts[-turns:] if turns else []
        if gone:
            del self._starts[-turns:]
            event.link, event.parent, event.rewinds = False, gone[0] or None, True
        return as_notice(event, "rewind", f"{turns} turn{'s' * (turns != 1)} taken back", {"turns": turns})

    def used(self, used: Json, total: Json, at: tuple[Place, datetime | None], request: str = "") -> Event | None:
        """The usage of a request; None where the total tells that it was counted, or that there was no request."""
        if not isinstance(used, dict) or (total and total == self._total):
            return None
        self._total = total
        sent, output, read, written = [whole(used.get(name)) for name in _COUNTS]
        if not (sent or output):
            return None  # marks a window that is full
        thought = min(output, whole(used.get("reasoning_output_tokens")))
        usage = Usage(max(0, sent - read - written), output, read, written, reasoning=thought)
        event = self.say(self.begin(*at, "usage"), (), usage, request)
        event.turn = False  # nobody says anything in it
        self._next_request()
        return event

    def go_on(self) -> None:
        """Hear that the model speaks: prompts before are answered, and after an answer it is another request's."""
        self._heard.clear()
        if self._answered:
            self._next_request()

    def _next_request(self) -> None:
        self._answered = False
        key = f"{self._scope}/r"
        number = self._counts[key] = self._counts.get(key, 0) + 1
        self.message = f"{key}{number}"

    def item(self, item: dict[str, Any], place: Place, time: datetime | None) -> Event:
        """An item of the model's interface."""
        kind, own = text(item.get("type")), text(item.get("id"))
        if kind == "message" and item.get("role") != "assistant":
            return self._given(item, place, time)
        if kind in _SPOKEN:
            self.go_on()
        event = self.begin(place, time, kind or "item", own)
        if kind == "message":
            return self._said(event, item)
        if kind == "reasoning":
            return self.say(event, (model_items.reasoning(event, self.message, item, self.detail),))
        if kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"):
            return self.say(event, (model_items.call_of(event, self.message, item, self.detail),))
        if kind in model_items.ANSWERS:
            return self._answer(event, item)
        if kind in ("web_search_call", "image_generation_call"):
            return self.say(
                event, model_items.hosted_call(event, self.message, item, self.ends.pop(screen.HOSTED_CALL, None))
            )
        return self._other(event, kind, item)

    def _other(self, event: Event, kind: str, item: dict[str, Any]) -> Event:
        if kind == "tool_search_output":
            return as_result(event, model_items.found_tools(event, item))
        if kind == "agent_message":
            event.blocks = (model_items.from_agent(event, item),)
            return event
        if kind in model_items.ITEMS:
            return beside(event.place, kind, item)
        return self.say(event, (Unknown(event.place, kind or "item", item, self.message, event.id, event.time),))

    def _said(self, event: Event, item: dict[str, Any]) -> Event:
        words = words_of(item.get("content")).strip()
        if self.plan and words.startswith("<proposed_plan>") and words.endswith("</proposed_plan>"):
            return beside(event.place, "plan", item)  # which its own item tells
        return self.say(event, model_items.spoken(event, self.message, item))

    def _answer(self, event: Event, item: dict[str, Any]) -> Event:
        call = text(item.get("call_id"))
        result = result_of(event, call, item.get("output"), self.ends.pop(call, None), self.detail)
        if is_running(text(item.get("output"))):
            self._running.add(call)
        self._answered = True
        return as_result(event, result)

    def ended(self, call: str, end: ToolEnd, at: tuple[Place, datetime | None]) -> Event | None:
        """The end of a call that an event tells of: kept for its answer; itself the answer where the model was told
        before that the command still runs."""
        if call not in self._running:
            self.ends[call] = end
            return None
        self._running.discard(call)
        event, printed = self.begin(*at, "end"), text(end.detail.get("stdout"))
        held = end.detail if self.detail is Detail.ALL else None
        result = answered(event, call, printed, error=bool(end.failed) and not end.denial)
        as_result(event, replace(result, detail=held, denial=end.denial))
        event.turn = False  # what the model was answered is another line
        return event

    def _given(self, item: dict[str, Any], place: Place, time: datetime | None) -> Event:
        """A message from the user's side: what a person typed, or what Codex put in."""
        role = text(item.get("role"))
        if self._header is not None and not self.facts.cwd:
            self.facts.cwd = model_items.told_cwd(words_of(item.get("content")))
        event = self.begin(place, time, f"{role}-message", text(item.get("id")))
        parts = model_items.user_parts(event, item.get("content"))
        for told in parts.injected:
            self.facts.note_loaded(*model_items.loaded_instructions(told), event.time)
        own = model_items.shell_command(parts.injected[0]) if len(parts.injected) == 1 and role == "user" else None
        if own is not None:
            as_prompt(event, own[0], kind="bash")
            self._starts.append(self._last)
            return as_notice(event, "bash-output", own[1]) if own[1] else event
        if role != "user":
            words = [*parts.injected, *filter(None, [parts.typed])]
            event.blocks = tuple(model_items.injected_notice(event, one) for one in words)
            return event
        notices = tuple(
            model_items.injected_notice(event, words) for words in parts.injected if "<turn_aborted>" not in words[:20]
        )
        if (parts.typed or parts.images) and not self._tells_prompts:
            prompt = self.prompt(event, parts.typed, parts.images, told=False)
            if prompt is not None:
                prompt.blocks = (*prompt.blocks, *notices)
                return prompt
        if not notices:
            return beside(place, "user item", item)
        event.blocks = notices
        return event

    def _bare(self, data: dict[str, Json], place: Place, record: str) -> Event:
        """A record of the time before records had an envelope, or of no kind that is known."""
        if record in model_items.ITEMS or ("role" in data and "content" in data):
            return self.item(data, place, self._header)
        if "record_type" in data:
            return beside(place, text(data["record_type"]), data)
        if not record and "id" in data and "timestamp" in data:
            self._header = moment(data["timestamp"])
            self._learn(data)
            return beside(place, "session_meta", data)
        return as_unknown(self.begin(place, self._header, "unknown"), record or "line", data)

    def _meta(self, said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]) -> Event:
        thread = text(said.get("id"))
        if self.facts.session and thread != self.facts.session:
            self._go_on_in(thread or self._scope)  # what follows was copied from there
            return beside(place, "session_meta", data)
        first = not self.facts.session
        self._learn(said)
        if self.subagent and first:
            told: dict[str, Json] = {"type": "subagent", **model_items.subagent_facts(said)}
            return as_notice(self.begin(place, time, "subagent"), "environment", "", told)
        base = mapping(said.get("history_base"))
        if not base:
            return beside(place, "session_meta", data)
        words = f"the conversation before is in {self.facts.forked_from or text(base.get('thread_id'))}"
        return as_notice(self.begin(place, time, "base"), "continued", words, base)

    def _learn(self, said: dict[str, Any]) -> None:
        facts, source = self.facts, said.get("source")
        first, facts.session = not facts.session, facts.session or text(said.get("id"))
        if first:
            self._go_on_in(facts.session or self._scope)
            self.note_time(moment(said.get("timestamp")))
            base = text(mapping(said.get("history_base")).get("thread_id"))
            facts.forked_from = text(said.get("forked_from_id")) or (base if base != facts.session else "")
            if len(base) >= _SHORTEST_ID:
                facts.base = HistoryBase(base, whole(mapping(said.get("history_base")).get("end_byte_offset")))
            facts.custom_title = self._name or ""
        facts.cwd = facts.cwd or text(said.get("cwd"))
        facts.branch = facts.branch or text(mapping(said.get("git")).get("branch"))
        facts.versions |= {version: None} if (version := text(said.get("cli_version"))) else {}
        facts.entrypoint = facts.entrypoint or text(said.get("originator"))
        facts.headless = facts.headless or source == "exec"
        facts.background = facts.background or "internal" in mapping(source)
        if said.get("parent_thread_id") or "subagent" in mapping(source):
            self.subagent = facts.session

    def _context(self, said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]) -> Event:
        self.turn(text(said.get("turn_id")))
        cwd, model = text(said.get("cwd")), text(said.get("model"))
        self.facts.cwd = self.facts.cwd or cwd
        self._effort = text(said.get("effort"))
        self.mode = text(mapping(said.get("collaboration_mode")).get("mode"))
        before, self._model = self._model, model or self._model
        if before and model and model != before:
            return as_notice(self.begin(place, time, "model"), "model-switch", model, {"from": before, "to": model})
        return beside(place, "turn_context", data)

    def _compacted(self, said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]) -> Event:
        held = items(said.get("replacement_history"))
        hidden = any("compaction" in text(mapping(one).get("type")) for one in held)
        words = text(said.get("message")) or ("[encrypted]" if hidden else "")
        return as_notice(self.begin(place, time, "compaction"), "compaction", words, {"kept": len(held)})

    def _record(self, said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]) -> Event:
        self.turn(text(said.get("turn_id")))
        request, total = text(said.get("response_id")), said.get("thread_token_usage")
        found = self.used(said.get("usage"), total, (place, time), request)
        return found or beside(place, "token_usage_record", data)

    def _mail(self, said: dict[str, Any], place: Place, time: datetime | None, data: dict[str, Json]) -> Event:
        event = self.begin(place, time, "mail", text(said.get("id")))
        event.blocks = (model_items.from_agent(event, said),)
        return event


_Handler = Callable[[CodexParser, dict[str, Any], Place, datetime | None, dict[str, Json]], Event]
_RECORDS: dict[str, _Handler] = {
    "session_meta": CodexParser._meta,
    "turn_context": CodexParser._context,
    "compacted": CodexParser._compacted,
    "token_usage_record": CodexParser._record,
    "inter_agent_communication": CodexParser._mail,
}
