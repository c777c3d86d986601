"""Rows as CSV. What logs hold is nobody's formula: a cell that a spreadsheet would run is quoted."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

_ACTIVE = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula."""


def as_csv(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """The heads, then the rows, a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_inactive(cell) for cell in row] for row in rows)
    return text.getvalue()


def _inactive(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_ACTIVE) else value
