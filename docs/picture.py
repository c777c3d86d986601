"""Terminal output as a picture: an SVG of text that needs nothing from anywhere else."""

import io

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

_DIM = "181a1f e06c75 8abe70 deb86a 61a0e6 be82d2 5cb4be aab0bc"
_BRIGHT = "6e7480 f0828a a0d287 f0cd82 78b4f5 d29be4 73c8d2 ffffff"


def _colours(names: str) -> list[tuple[int, int, int]]:
    return [(rgb[0], rgb[1], rgb[2]) for rgb in map(bytes.fromhex, names.split())]


_THEME = TerminalTheme((24, 26, 31), (208, 212, 220), _colours(_DIM), _colours(_BRIGHT))
_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(output: str, name: str, columns: int) -> str:
    """An SVG of what a terminal printed; `name` keeps its styles apart from those of other pictures."""
    console = Console(record=True, file=io.StringIO(), width=columns, force_terminal=True, color_system="truecolor")
    for line in output.rstrip("\n").split("\n"):
        console.print(Text.from_ansi(line), soft_wrap=True, crop=False)
    made = console.export_svg(title="", theme=_THEME, code_format=_SVG, unique_id=name)
    return "\n".join(line.rstrip() for line in made.splitlines()) + "\n"
