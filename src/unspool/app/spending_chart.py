"""One chart of a session's window and money, by turn or by call: above the line what was in the window, below it what
that cost, or how many tokens it took."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from unspool import human
from unspool.app.api_endpoint import parse_number
from unspool.app.charts import KIND_ORDER, PlotScale, plot_scale, window_tokens
from unspool.app.render import LinkChoice
from unspool.figures.context_window import ContextWindow, RequestWindow
from unspool.figures.spending import CallSpending, SessionSpending, TurnSpending, sum_calls
from unspool.model import Session
from unspool.site import summaries
from unspool.site.address import Addresses

UP, DOWN, GAP, STEP = 140, 74, 10, 10
"""Of the picture: the heights above and below the line, what lies between them, the width of a bar with its gap."""
_MOST_BARS = 120
_FEW_TURNS = 6
"""Turns of which each call has a bar of its own, where they are looked at by themselves."""
_RANGES = 6
PAID = ("read from cache", "written", "written again", "not cached", "output", "web searches")
"""What money and tokens went for, from the line down."""
Measure = Literal["money", "tokens"]


class ChartRange(NamedTuple):
    """The turns that are shown, by number, and how what they took is measured."""

    first: int
    last: int
    measure: Measure


class SpendLayer(NamedTuple):
    name: str
    y: float
    height: float


class SpendBar(NamedTuple):
    """A turn, a call, or several that stand together."""

    x: int
    href: str
    says: str
    layers: tuple[SpendLayer, ...]
    paid: tuple[SpendLayer, ...]
    compacted: bool
    first: int
    last: int
    """The turns that it is of."""


class SpendingChart(NamedTuple):
    bars: tuple[SpendBar, ...]
    window: PlotScale
    spent: PlotScale
    kinds: tuple[str, ...]
    paid: tuple[str, ...]
    about: str
    calls: bool
    """Whether bars are calls."""
    compacted: bool
    ranges: tuple[LinkChoice, ...]
    """Stretches of what is shown, each to be looked at by itself."""
    ways: tuple[LinkChoice, ...]
    """Out, earlier, later."""
    measures: tuple[LinkChoice, ...]
    width: int
    measure: Measure


class _Piece(NamedTuple):
    """What one bar is made of."""

    turns: tuple[int, int]
    href: str
    name: str
    window: RequestWindow | None
    spent: TurnSpending


def chosen_range(session: Session, given: QueryParams, spent: SessionSpending) -> ChartRange:
    """The turns that an address asks for, as far as there are any; all of them where it asks for none."""
    numbers = _asked(session)
    first, last = (parse_number(given.get(name, "")) for name in ("from", "to"))
    low = min(max(numbers[0] if first is None else first, numbers[0]), numbers[-1])
    high = max(min(numbers[-1] if last is None else last, numbers[-1]), low)
    paid = spent.total.cost.amount > 0
    return ChartRange(low, high, "tokens" if given.get("measure") == "tokens" or not paid else "money")


def _asked(session: Session) -> list[int]:
    """The numbers of the turns, without what came before the first prompt where nothing was asked then."""
    return [turn.number for turn in session.turns if turn.prompt is not None or turn.context] or [0]


class SpendingChartMaker:
    """Draws the chart of one session; `windows` are those of its requests."""

    def __init__(
        self,
        session: Session,
        filled: ContextWindow,
        windows: Sequence[RequestWindow],
        spent: SessionSpending,
        addresses: Addresses,
    ) -> None:
        self._session, self._filled, self._spent, self._addresses = session, filled, spent, addresses
        self._windows = {one.message: one for one in windows}
        self._numbers = _asked(session)

    def chart(self, chosen: ChartRange) -> SpendingChart | None:
        """The chart of some turns; None where nothing of them is known."""
        calls = self.calls(chosen)
        turns = chosen.last - chosen.first + 1
        zoomed = turns < self._numbers[-1] - self._numbers[0] + 1
        by_call = bool(calls) and (turns == 1 or (zoomed and turns <= _FEW_TURNS))
        pieces = list(_together(list(self._of_calls(calls)) if by_call else list(self._of_turns(chosen))))
        windows = [one.window for one in pieces if one.window is not None]
        if not windows and not any(one.spent.calls for one in pieces):
            return None
        figures = [_paid(one.spent, chosen.measure) for one in pieces]
        most = max((sum(one.values(), Decimal(0)) for one in figures), default=Decimal(0))
        shown: Callable[[float], str] = human.money if chosen.measure == "money" else _tokens
        scale = plot_scale(max((one.total for one in windows), default=0), _tokens, self._filled.window)
        below = plot_scale(float(most), shown, lines=3)
        bars = tuple(self._bar(at, *both, scale, below) for at, both in enumerate(zip(pieces, figures, strict=True)))
        named = {name for one in windows for name in window_tokens(one)}
        return SpendingChart(
            bars,
            scale,
            below,
            tuple(name for name in KIND_ORDER if name in named),
            tuple(name for name in PAID if any(one.get(name) for one in figures)),
            self._about(chosen, by_call),
            by_call,
            any(one.compacted for one in bars),
            tuple(self._ranges(chosen)),
            tuple(self._ways(chosen)),
            self._measures(chosen),
            len(bars) * STEP,
            chosen.measure,
        )

    def window_of(self, call: CallSpending) -> RequestWindow | None:
        """The window that a call of the session itself found."""
        return None if call.agent else self._windows.get(call.message)

    def calls(self, chosen: ChartRange) -> list[CallSpending]:
        """The calls of the turns that are shown."""
        return [one for one in self._spent.calls if one.turn is not None and chosen.first <= one.turn <= chosen.last]

    def _of_turns(self, chosen: ChartRange) -> Iterator[_Piece]:
        spent = {one.turn: one for one in self._spent.turns}
        windows = {one.number: one.window for one in self._filled.turns}
        for turn in self._session.turns:
            if chosen.first <= turn.number <= chosen.last:
                name = f"Turn {turn.number}: {summaries.turn_line(turn, 60)}"
                made, window = spent[turn.number], windows.get(turn.number)
                if turn.prompt is None and window is None and not made.calls:
                    continue  # before the first prompt nothing was asked
                href = self._addresses.turn(turn.number)
                name = human.joined(name, "copied, and paid where it was copied from" if turn.copied else "")
                yield _Piece((turn.number, turn.number), href, name, window, made)

    def _of_calls(self, calls: Sequence[CallSpending]) -> Iterator[_Piece]:
        places: dict[str, str] = {}
        for turn in self._session.turns:
            for block in turn.blocks:
                name = getattr(block, "message", "")
                if name and name not in places:
                    places[name] = self._addresses.link(block)
        for at, call in enumerate(calls, 1):
            number = call.turn or 0
            by = "subagent, " if call.agent else ""
            name = f"Turn {number}, call {at} ({by}{call.model or 'unknown model'})"
            href = places.get(call.message) or self._addresses.turn(number)
            spent = sum_calls(number, (call,), int(call.compacted))
            yield _Piece((number, number), href, name, self.window_of(call), spent)

    def _bar(self, at: int, piece: _Piece, paid: dict[str, Decimal], window: PlotScale, spent: PlotScale) -> SpendBar:
        layers, y = [], float(UP)
        for kind, tokens in window_tokens(piece.window).items() if piece.window is not None else ():
            height = UP * window.part(tokens)
            y -= height
            layers.append(SpendLayer(kind, round(y, 2), round(height, 2)))
        below, y = [], float(UP + GAP)
        for name, number in paid.items():
            if number:
                height = DOWN * spent.part(float(number))
                below.append(SpendLayer(name, round(y, 2), round(height, 2)))
                y += height
        first, last = piece.turns
        cut = bool(piece.spent.compactions)
        return SpendBar(at * STEP, piece.href, _says(piece), tuple(layers), tuple(below), cut, first, last)

    def _about(self, chosen: ChartRange, by_call: bool) -> str:
        found = (one for one in self._windows.values() if chosen.first <= one.turn <= chosen.last)
        most = max((one.total for one in found), default=0)
        turns = "turn" if chosen.first == chosen.last else "turns"
        which = f"{turns.capitalize()} {_span(chosen.first, chosen.last)}"
        spent = sum_calls(None, self.calls(chosen))
        held = f"at its fullest {most:,} tokens" if most else "no window is told of"
        calls, by = human.count(spent.calls, "call"), "call" if by_call else "turn"
        lost = f"; {spent.lost_tokens:,} tokens written to the cache again" if spent.lost else ""
        return f"{which}, by {by}: {calls}, {_cost(spent)}, {held}{lost}."

    def _ranges(self, chosen: ChartRange) -> Iterator[LinkChoice]:
        """What is shown in stretches of alike length; nothing where one turn is left."""
        shown = [number for number in self._numbers if chosen.first <= number <= chosen.last]
        number = min(_RANGES, len(shown))
        if len(shown) < 2:
            return
        for part in range(number):
            some = shown[len(shown) * part // number : len(shown) * (part + 1) // number]
            about = f"Zoom to {'turn' if len(some) == 1 else 'turns'} {_span(some[0], some[-1])}"
            yield LinkChoice(_span(some[0], some[-1]), self._href(some[0], some[-1], chosen.measure), about=about)

    def _ways(self, chosen: ChartRange) -> Iterator[LinkChoice]:
        low, high = self._numbers[0], self._numbers[-1]
        size = chosen.last - chosen.first + 1
        if (chosen.first, chosen.last) == (low, high):
            return
        yield LinkChoice("All turns", self._href(low, high, chosen.measure))
        if chosen.first > low:
            before = max(low, chosen.first - size)
            yield LinkChoice("← Earlier", self._href(before, chosen.first - 1, chosen.measure))
        if chosen.last < high:
            yield LinkChoice("Later →", self._href(chosen.last + 1, min(high, chosen.last + size), chosen.measure))
        wider = max(low, chosen.first - size // 2 - 1), min(high, chosen.last + size // 2 + 1)
        if wider != (low, high):
            yield LinkChoice("Zoom out", self._href(*wider, chosen.measure))

    def _measures(self, chosen: ChartRange) -> tuple[LinkChoice, ...]:
        if not self._spent.total.cost.amount:
            return ()
        measures: tuple[Measure, ...] = ("money", "tokens")
        return tuple(
            LinkChoice(one.capitalize(), self._href(chosen.first, chosen.last, one), one == chosen.measure)
            for one in measures
        )

    def _href(self, first: int, last: int, measure: Measure) -> str:
        given = {"from": first, "to": last, **({"measure": measure} if measure == "tokens" else {})}
        return f"context?{urlencode(given)}#spending"


def _together(pieces: list[_Piece]) -> Iterator[_Piece]:
    """Pieces few enough to be told apart: what neighbours spent is added up, and the fullest window stands for them."""
    size = -(-len(pieces) // _MOST_BARS) or 1
    for start in range(0, len(pieces), size):
        group = pieces[start : start + size]
        if len(group) == 1:
            yield group[0]
            continue
        fullest = max(group, key=lambda one: one.window.total if one.window is not None else 0)
        first, last = group[0].turns[0], group[-1].turns[1]
        name = f"Turns {_span(first, last)}" if first != last else f"{group[0].name} and {len(group) - 1} more"
        spent = reduce(add, (one.spent for one in group))
        yield _Piece((first, last), group[0].href, name, fullest.window, spent)


def _paid(spent: TurnSpending, measure: Measure) -> dict[str, Decimal]:
    """What was paid for, in dollars or in tokens, by the names of PAID."""
    parts, usage, lost = spent.parts, spent.usage, spent.lost_cost
    again = min(spent.lost_tokens, usage.cache_write)
    money = (parts.read, parts.write - lost, lost, parts.input, parts.output, parts.searches)
    tokens = (usage.cache_read, usage.cache_write - again, again, usage.input, usage.output, 0)
    return dict(zip(PAID, money if measure == "money" else map(Decimal, tokens), strict=True))


def _says(piece: _Piece) -> str:
    spent = piece.spent
    window = f"{piece.window.total:,} tokens in the window" if piece.window is not None else ""
    calls = human.joined(human.count(spent.calls, "call"), _cost(spent)) if spent.calls else ""
    causes = ", ".join(dict.fromkeys(one.cause for one in spent.lost))
    lost = (
        f"{spent.lost_tokens:,} tokens written again ({causes}), {human.money(spent.lost_cost)}" if spent.lost else ""
    )
    return human.joined(piece.name, window, calls, lost, "compacted" if spent.compactions else "")


def _cost(spent: TurnSpending) -> str:
    return human.money(spent.cost.amount, floor=spent.cost.floor, unpriced=bool(spent.cost.unpriced))


def _tokens(number: float) -> str:
    return human.tokens(round(number))


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"
