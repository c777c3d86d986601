"""Tokens by kind and billed requests of a session, gathered while its events go by."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from unspool.figures.tokens import (
    ANSWERS,
    CALL,
    THINKING,
    TOOL_INPUT,
    CachedRequest,
    RewrittenTokens,
    WindowPiece,
    block_pieces,
    cached_instead,
    estimate_tokens,
    find_rewrites,
    prompt_pieces,
    result_pieces,
    result_tokens,
    written_tokens,
)
from unspool.model import Event, Result, Text, Thinking, ToolCall
from unspool.model.usage import KINDS
from unspool.prices import Picodollars, PriceTable
from unspool.prices.table import token_density
from unspool.reading.ledger import CallLedger, stable_hash
from unspool.store.index.requests import BilledRequest, CacheRewrite

UNACCOUNTED = len(KINDS)
"""What the first request measured beyond what the log holds: the system prompt, the tools."""
_BELIEVED, _WRITTEN = 10**8, 10**12
"""Tokens that a window may measure and a session may write; more is a damaged log's."""
_NO_CALL = (None, "", "")
_WHOLE = 480
_SAMPLE = 120


class TokenEstimates:
    """Tokens by kind and tool of one log. A call is heard before its result."""

    def __init__(self) -> None:
        self._sums: defaultdict[tuple[int, str], int] = defaultdict(int)
        self._calls: dict[str, tuple[str, str, str]] = {}
        """Message, tool and role of the last call of each id."""
        self._names: dict[str, int] = {}
        """Tokens of the names of tools."""
        self._lines: set[str] = set()
        self._model = ""
        self._measured = 0
        """What the first request sent that tells."""
        self._before = 0
        """What had been weighed by then."""
        self.silent = False
        """Whether there was thinking without its words."""

    def take(self, event: Event) -> None:
        """Weigh what an event brings; a copy of a line brings nothing."""
        if event.id in self._lines:
            return
        self._lines.add(event.id)
        part = event.part
        if part is not None and not self._measured and part.usage is not None:
            self._model = part.model
            self._measured = min(part.usage.context, _BELIEVED)
            self._before = sum(self._sums.values())
        if event.prompt is not None:
            self._add(prompt_pieces(event.prompt, rough_estimate))
        for block in event.blocks:
            if type(block) is Result:  # quicker than `isinstance` where it is none
                self._result(block)
            elif type(block) is ToolCall:
                self._call(block)
            elif type(block) is Text:
                self._sums[ANSWERS, ""] += rough_estimate(block.text)
            elif type(block) is Thinking:
                self._sums[THINKING, ""] += rough_estimate(block.text)
                self.silent = self.silent or not block.text
            else:
                self._add(block_pieces(block, rough_estimate))

    def _result(self, result: Result) -> None:
        _, name, role = self._calls.get(result.call_id, _NO_CALL)
        if result.images:
            self._add(result_pieces(result, name, role, rough_estimate))
        else:
            kind, tokens = result_tokens(result, role, rough_estimate)
            self._sums[kind, name] += tokens

    def _call(self, call: ToolCall) -> None:
        if call.call_id and self._calls.get(call.call_id, _NO_CALL)[0] == call.message:
            return  # an early state of the message
        self._calls[call.call_id] = call.message, call.name, call.role
        if call.result is None and call.state != "orphan":
            if call.name not in self._names:
                self._names[call.name] = rough_estimate(call.name)
            self._sums[TOOL_INPUT, call.name] += CALL + self._names[call.name] + written_tokens(call, rough_estimate)
        else:
            self._add(block_pieces(call, rough_estimate))

    def sums(self) -> Counter[tuple[int, str]]:
        """All that was put into the window, in tokens of its model."""
        part = token_density(self._model)
        found = Counter({key: round(tokens * part) for key, tokens in self._sums.items()})
        found[UNACCOUNTED, ""] = max(0, self._measured - round(self._before * part))
        return found

    def _add(self, pieces: Iterable[WindowPiece]) -> None:
        for kind, tokens, tool, _, _ in pieces:
            self._sums[kind, tool] += tokens


def add_estimates(logs: Iterable[TokenEstimates], output: int) -> Counter[tuple[int, str]]:
    """What all logs of a session tell; thinking whose words they do not hold is what is left of the output."""
    found: Counter[tuple[int, str]] = Counter()
    silent = False
    for log in logs:
        found.update(log.sums())
        silent = silent or log.silent
    if silent:
        written = sum(tokens for (kind, _), tokens in found.items() if kind in (ANSWERS, TOOL_INPUT))
        found[THINKING, ""] = max(found[THINKING, ""], min(output, _WRITTEN) - written)
    return +found


def rough_estimate(text: str) -> int:
    """An estimate that takes no longer for a long text than for a short one."""
    size = len(text)
    if size <= _WHOLE:
        return estimate_tokens(text)
    middle = size // 2
    some = text[:_SAMPLE] + text[middle : middle + _SAMPLE] + text[-_SAMPLE:]
    return estimate_tokens(some) * size // len(some)


_INPUT, _READ, _WRITE, _HOUR = 0, 2, 3, 4


class RequestBill:
    """Hears every event of a session's logs, and knows its requests afterwards."""

    def __init__(self) -> None:
        self._owners: dict[int, int] = {}
        """The number of the subagent's log that a message is of."""
        self._aside: set[int] = set()
        """Messages of subagents that stand in their session's own log."""
        self._fresh: set[int] = set()
        """Messages that came first after a compaction."""
        self._advice: set[int] = set()
        """Requests of models that a message asked: they stand in no window of the conversation."""
        self._number, self._compacted = 0, False

    def begin(self, number: int) -> None:
        """What comes next is the log of the subagent with that number, or with 0 the session's own."""
        self._number, self._compacted = number, False

    def hear(self, event: Event) -> None:
        """Note what the request of an event belongs to."""
        if event.boundary:
            self._compacted = True
        part = event.part
        if part is not None and part.usage is not None:
            for call in part.advice:
                self._advise(stable_hash(call.key.rpartition(":")[0]))
            if self._number:
                self._owners.setdefault(stable_hash(part.message), self._number)
            elif event.sidechain:
                self._aside.add(stable_hash(part.message))
            if self._compacted:
                self._fresh.add(stable_hash(part.message))
            self._compacted = False

    def _advise(self, message: int) -> None:
        self._advice.add(message)
        if self._number:
            self._owners.setdefault(message, self._number)

    def requests(self, ledger: CallLedger, prices: PriceTable) -> list[BilledRequest]:
        """The rows of a ledger that heard the same events."""
        price = prices.picodollars
        rows = [
            BilledRequest(message, one, time, terms, figures, final, self._owners.get(message, 0),
                    price.of(terms, time, figures))
            for message, one, time, terms, figures, final in ledger.rows()
        ]  # fmt: skip
        return list(self._with_rewrites(rows, price))

    def _with_rewrites(self, rows: list[BilledRequest], price: Picodollars) -> Iterator[BilledRequest]:
        rows.sort(key=self._conversation)
        for (_, _, asked), same in groupby(rows, self._conversation):
            talk = list(same)
            if asked:
                yield from talk
                continue
            for row, again in zip(talk, find_rewrites(map(self._sent, talk)), strict=True):
                yield row if again is None else row._replace(again=_rewrite(row, again, price))

    def _conversation(self, row: BilledRequest) -> tuple[int, bool, bool]:
        return row.agent, row.message in self._aside, row.message in self._advice

    def _sent(self, row: BilledRequest) -> CachedRequest:
        figures = row.figures
        return CachedRequest(
            row.terms[0], row.time, figures[_INPUT], figures[_READ], figures[_WRITE], figures[_HOUR],
            row.message in self._fresh,
        )  # fmt: skip


def _rewrite(row: BilledRequest, again: RewrittenTokens, price: Picodollars) -> CacheRewrite:
    """What was written again, and what that cost more than reading it."""
    cost = price.of(row.terms, row.time, cached_instead(row.figures, again))
    lost = None if cost is None or row.cost is None else max(0, row.cost - cost)
    return CacheRewrite(again.cause, again.tokens, lost)
