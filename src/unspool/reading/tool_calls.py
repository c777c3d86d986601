"""Which tool call is which, which result answers it, and how it ended: one rule for lists, index and pages.

A call is known by its message and its id. A message that is logged again repeats its calls; another message that uses
the same id makes another call. A call without an id is one for every time that it is logged.
"""

from collections import Counter, deque

from unspool.model import Dialect, Event, Notice, Result, ToolCall
from unspool.model.blocks import CallEnd, call_end

CallKey = int
"""A call among those of a session, in this process."""


class CallPairs:
    """Hears the calls and results of one conversation in the order of its log. A result answers the first call of its
    id that has no answer yet, else the last one again."""

    def __init__(self) -> None:
        self._last: dict[str, CallKey] = {}
        """By id, its last call."""
        self._before: set[CallKey] = set()
        """Calls whose id another message used again."""
        self._open: dict[str, deque[CallKey]] = {}
        """By id, its calls that wait for an answer."""
        self._early: set[str] = set()
        """Ids of results that came before their calls."""
        self._nameless: Counter[str] = Counter()
        """How many calls of a message have no id."""

    def call(self, call: ToolCall) -> tuple[CallKey, bool]:
        """The key of a call, and whether it was not heard before."""
        call_id = call.call_id
        if not call_id:
            self._nameless[call.message] += 1
            return hash((call.message, self._nameless[call.message])), True
        key, last = hash((call.message, call_id)), self._last.get(call_id)
        if key == last or key in self._before:
            return key, False
        if last is not None:
            self._before.add(last)
        self._last[call_id] = key
        if call_id in self._early:
            self._early.remove(call_id)
        else:
            self._open.setdefault(call_id, deque()).append(key)
        return key, True

    def answer(self, result: Result) -> CallKey | None:
        """The call that a result answers; None where its call was not heard."""
        call_id = result.call_id
        last = self._last.get(call_id)
        if last is None:
            if call_id:
                self._early.add(call_id)
            return None
        waiting = self._open.get(call_id)
        if waiting is None:
            return last
        if len(waiting) == 1:
            del self._open[call_id]
        return waiting.popleft()

    def knows(self, call_id: str) -> bool:
        """Whether a call of that id was heard."""
        return call_id in self._last


class CallEnds:
    """How the tool calls of one conversation ended: each by its last answer, or without one."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._pairs = CallPairs()
        self.calls = 0
        self.ends: dict[CallKey, CallEnd] = {}
        """Of calls that did not go well, as far as was heard."""
        self._open: set[CallKey] = set()
        """Calls of the turn that wait for their answers."""
        self._lost: dict[str, list[CallEnd]] = {}
        """Ends of answers whose calls were not heard."""

    def hear(self, event: Event) -> list[tuple[CallKey | None, ToolCall | Result]]:
        """Take in an event. Its calls and results, each with the call that it is or answers, where that was heard."""
        if event.prompt is not None:
            self._open.clear()
        found: list[tuple[CallKey | None, ToolCall | Result]] = []
        for block in event.blocks:
            if type(block) is ToolCall:  # quicker than `isinstance` where it is none
                found.append((self._call(block), block))
            elif type(block) is Result:
                found.append((self._result(block), block))
            elif type(block) is Notice and block.kind == "interruption":
                self.ends.update(dict.fromkeys(self._open, "interrupted"))
        return found

    @property
    def lost(self) -> int:
        """Failures of calls that are not in the log."""
        return sum(ends.count("failed") for ends in self._lost.values())

    def _call(self, call: ToolCall) -> CallKey:
        key, new = self._pairs.call(call)
        if new:
            self.calls += 1
            answers = self._lost.pop(call.call_id, []) if call.call_id else []
            end = answers[-1] if answers else "unanswered"
            if end != "ok":
                self.ends[key] = end
            if not answers:
                self._open.add(key)
        return key

    def _result(self, result: Result) -> CallKey | None:
        key = self._pairs.answer(result)
        end = call_end(self._dialect.state(result), result)
        if key is None:
            self._lost.setdefault(result.call_id, []).append(end)
            return None
        self._open.discard(key)
        self.ends.pop(key, None)
        if end != "ok":
            self.ends[key] = end
        return key
