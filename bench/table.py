"""The one table that a run prints: what, ours, theirs, the ratio, and whether the aim is met."""

from collections.abc import Iterable
from dataclasses import dataclass

HEADINGS = ("what", "unspool", "beside it", "ratio", "aim", "")


@dataclass(frozen=True)
class Row:
    """One measurement, in words; `met` is None where there is no aim or nothing to compare."""

    what: str
    ours: str
    theirs: str = ""
    ratio: str = ""
    aim: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return (self.what, self.ours, self.theirs, self.ratio, self.aim, verdict)


def lines(rows: Iterable[Row]) -> Iterable[str]:
    """The rows as lines of a Markdown table, so that a result can be pasted as it is."""
    cells = [HEADINGS, *(row.cells for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADINGS))]
    for number, row in enumerate(cells):
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        if not number:
            yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
