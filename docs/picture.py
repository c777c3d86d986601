"""Terminal output as a picture: an SVG of text that needs nothing from anywhere else."""

import io

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

_PAPER = TerminalTheme(
    (24, 26, 31),
    (208, 212, 220),
    [(24, 26, 31), (224, 108, 117), (138, 190, 112), (222, 184, 106), (97, 160, 230), (190, 130, 210), (92, 180, 190), (170, 176, 188)],
    [(110, 116, 128), (240, 130, 138), (160, 210, 135), (240, 205, 130), (120, 180, 245), (210, 155, 228), (115, 200, 210), (255, 255, 255)],
)  # fmt: skip

_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
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
    made = console.export_svg(title="", theme=_PAPER, code_format=_SVG, unique_id=name)
    return "\n".join(line.rstrip() for line in made.splitlines()) + "\n"
