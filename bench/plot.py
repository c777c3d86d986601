"""A small picture of time and memory over size, as SVG that reads on light and dark pages."""

from collections.abc import Callable, Sequence

Point = tuple[float, float, float]
"""MB of logs, seconds, MB of memory."""

_WIDE, _HIGH, _LEFT, _TOP, _GAP = 250, 150, 52, 30, 90
_STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #555; } .head { font-weight: 600; fill: #222; }
  .axis { stroke: #999; fill: none; } .line { stroke: #2563eb; fill: none; stroke-width: 2; } .dot { fill: #2563eb; }
  .aim { stroke: #b45309; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) { text { fill: #aaa; } .head { fill: #eee; } .line { stroke: #60a5fa; }
  .dot { fill: #60a5fa; } .aim { stroke: #fbbf24; } }
"""


def drawn(points: Sequence[Point], most: float) -> str:
    """Two panels beside each other: seconds with the line that the last point promises, and memory with its bound."""
    size = max((mb for mb, _, _ in points), default=1)
    slope = points[-1][1] if points else 0
    time = _panel("seconds of the first sync", [(mb, one) for mb, one, _ in points], size, (0, slope))
    memory = _panel("MB of memory, all processes", [(mb, one) for mb, _, one in points], size, (most, most))
    wide, high = _LEFT + 2 * _WIDE + _GAP + 40, _TOP + _HIGH + 40
    second = f'<g transform="translate({_WIDE + _GAP})">{memory}</g>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img">'
    label = "<title>Time and memory of the first sync over the size of the logs</title>"
    return f"{head}{label}<style>{_STYLE}</style><g>{time}</g>{second}</svg>\n"


def _panel(head: str, points: Sequence[tuple[float, float]], size: float, bound: tuple[float, float]) -> str:
    """One panel; `bound` is the height of the dashed line at both ends."""
    top = 1.1 * max([*bound, *(value for _, value in points)]) or 1

    def across(mb: float) -> float:
        return _LEFT + mb / size * _WIDE

    def up(value: float) -> float:
        return _TOP + _HIGH - value / top * _HIGH

    base, right = _TOP + _HIGH, _LEFT + _WIDE
    line = " ".join(f"{across(mb):.1f},{up(value):.1f}" for mb, value in points)
    parts = [
        f'<text class="head" x="{_LEFT}" y="16">{head}</text>',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{base}H{right}"/>',
        f'<line class="aim" x1="{_LEFT}" y1="{up(bound[0]):.1f}" x2="{right}" y2="{up(bound[1]):.1f}"/>',
        f'<polyline class="line" points="{line}"/>',
        *(_dot(across(mb), up(value), value) for mb, value in points),
        *_ticks(points, across, base),
    ]
    return "".join(parts)


def _dot(x: float, y: float, value: float) -> str:
    told = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
    return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/><text x="{x + 5:.1f}" y="{y - 6:.1f}">{told}</text>'


def _ticks(points: Sequence[tuple[float, float]], across: Callable[[float], float], base: float) -> list[str]:
    """Sizes below the axis, left out where they would stand on one another."""
    found: list[str] = []
    last = float("-inf")
    for mb, _ in points:
        if across(mb) - last >= 34:
            last = across(mb)
            found.append(f'<text x="{last:.1f}" y="{base + 16}" text-anchor="middle">{mb:.0f} MB</text>')
    return found
