"""Small pictures of figures over sizes, as SVG that reads on light and dark pages."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

Point = tuple[float, float, float]
"""MB of logs, seconds, MB of memory."""
Pair = tuple[float, float]

_WIDE, _HIGH, _LEFT, _TOP, _GAP = 270, 170, 24, 34, 60
_NEAR, _FAR = 3, 24
"""How far below the other line a figure would stand in it."""
_STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #57606a; } .head { font-weight: 600; fill: #1f2328; }
  .value { fill: #1f2328; text-anchor: middle; } .size { text-anchor: middle; } .note { fill: #9a6700; }
  .axis { stroke: #8c959f; fill: none; } .line { stroke: #0969da; fill: none; stroke-width: 2; } .dot { fill: #0969da; }
  .aim { stroke: #9a6700; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } .head, .value { fill: #f0f6fc; } .note { fill: #d29922; } .axis { stroke: #656c76; }
    .line { stroke: #4493f8; } .dot { fill: #4493f8; } .aim { stroke: #d29922; }
  }
"""


def drawn(points: Sequence[Point], most: float) -> str:
    """Two panels: seconds, with the line of a time that grows as the size does, and memory with its bound."""
    time, memory = [(mb, one) for mb, one, _ in points], [(mb, one) for mb, _, one in points]
    sizes = _logarithmic([mb for mb, _, _ in points], _LEFT, _LEFT + _WIDE)
    even = [(mb, time[0][1] * mb / time[0][0]) for mb, _ in time]
    upright = _logarithmic([value for _, value in (*time, *even)], _TOP + _HIGH - 12, _TOP + 16)
    base, top = _TOP + _HIGH, _TOP + 30
    bound = [(mb, most) for mb, _ in memory]
    height = max([most, *(value for _, value in memory)])

    def level(value: float) -> float:
        return base - value / height * (base - top)

    first = _panel("Seconds of the first sync", "proportional", (time, even), sizes, upright)
    second = _panel("MB of memory, all processes", f"{most:.0f} MB", (memory, bound), sizes, level)
    return _side_by_side("Time and memory of the first sync over the size of the logs", [first, second])


class Panel(NamedTuple):
    """A figure over counts of sessions, beside what it was at the first of them."""

    head: str
    points: Sequence[Pair]


def panels(title: str, drawn: Sequence[Panel]) -> str:
    """A picture of some panels; all figures are above 0."""
    made = []
    for head, points in drawn:
        counts = _logarithmic([count for count, _ in points], _LEFT, _LEFT + _WIDE)
        level = [(count, points[0][1]) for count, _ in points]
        upright = _from_nothing([value for _, value in points])
        made.append(_panel(head, f"as with {points[0][0]:,.0f}", (points, level), counts, upright, _count))
    return _side_by_side(title, made)


def _side_by_side(title: str, made: Sequence[str]) -> str:
    step, wide = _LEFT + _WIDE + _GAP // 2, len(made) * (_LEFT + _WIDE) + (len(made) - 1) * _GAP // 2 + _GAP // 2
    parts = [f'<g transform="translate({number * step})">{panel}</g>' for number, panel in enumerate(made)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {_TOP + _HIGH + 30}" role="img">'
        f"<title>{title}</title><style>{_STYLE}</style>{''.join(parts)}</svg>\n"
    )


def _from_nothing(values: Sequence[float]) -> Callable[[float], float]:
    """Upright from 0, with room above the largest."""
    base, top, most = _TOP + _HIGH, _TOP + 30, max(values)
    return lambda value: base - value / most * (base - top)


def _logarithmic(values: Sequence[float], low: float, high: float) -> Callable[[float], float]:
    """Equal ratios are equal ways; the least value is at `low` and a bit, the largest at `high` less a bit."""
    least, most = math.log(min(values)), math.log(max(values))
    margin = 0.08 * (high - low)

    def place(value: float) -> float:
        share = (math.log(value) - least) / (most - least or 1)
        return low + margin + share * (high - low - 2 * margin)

    return place


def _panel(
    head: str,
    note: str,
    lines: tuple[Sequence[Pair], Sequence[Pair]],
    across: Callable[[float], float],
    up: Callable[[float], float],
    sized: Callable[[float], str] | None = None,
) -> str:
    """One panel: what was measured, and what it is held against, which `note` names."""
    measured, against = lines
    base, right = _TOP + _HIGH, _LEFT + _WIDE
    parts = [
        f'<text class="head" x="{_LEFT}" y="16">{head}</text>',
        f'<text class="note" x="{right}" y="16" text-anchor="end">- - {note}</text>',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{base}H{right}"/>',
        _polyline("aim", against, across, up),
        _polyline("line", measured, across, up),
    ]
    for (mb, value), (_, held) in zip(measured, against, strict=True):
        x, y = across(mb), up(value)
        beside = y + 16 if _NEAR < y - up(held) < _FAR else y - 8
        told = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
        parts += [
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>',
            f'<text class="value" x="{x:.1f}" y="{beside:.1f}">{told}</text>',
            f'<text class="size" x="{x:.1f}" y="{base + 16}">{(sized or _size)(mb)}</text>',
        ]
    return "".join(parts)


def _polyline(kind: str, points: Sequence[Pair], across: Callable[[float], float], up: Callable[[float], float]) -> str:
    line = " ".join(f"{across(mb):.1f},{up(value):.1f}" for mb, value in points)
    return f'<polyline class="{kind}" fill="none" points="{line}"/>'


def _size(mb: float) -> str:
    return f"{mb / 1000:.1f} GB" if mb >= 1000 else f"{mb:.0f} MB"


def _count(count: float) -> str:
    return f"{count:,.0f}"
