"""Short words for one-line summaries: text folded to a line, counts, times, sizes, changes."""

from collections.abc import Iterable

from unspool.tools.ansi import plain

LIMIT = 120
_SIZES = ("bytes", "KB", "MB", "GB", "TB")


def line(text: str, limit: int = LIMIT) -> str:
    """The text on one line without control characters, cut at about `limit` characters."""
    text = text.lstrip()
    head = text[: limit * 8]
    folded = " ".join(plain(head).split())
    if len(folded) <= limit and len(head) == len(text):
        return folded
    return folded[: limit - 1].rstrip() + "…"


def joined(words: Iterable[str]) -> str:
    """Short facts beside each other; empty ones are left out."""
    return " · ".join(word for word in words if word)


def count(number: float, noun: str, plural: str = "") -> str:
    """`1 line`, `1,204 lines`."""
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def lines(text: str) -> int:
    """How many lines the text has; a last one without its newline counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def duration(seconds: float) -> str:
    """`850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    large, small, names = (
        (whole // 60, whole % 60, "min s") if whole < 3600 else (whole // 3600, whole % 3600 // 60, "h min")
    )
    first, second = names.split()
    return f"{large:,} {first}" + (f" {small} {second}" if small else "")


def size(count_of_bytes: float) -> str:
    """`512 bytes`, `96.8 KB`."""
    unit = 0
    while count_of_bytes >= 1000 and unit < len(_SIZES) - 1:
        count_of_bytes /= 1000
        unit += 1
    return f"{count_of_bytes:.1f} {_SIZES[unit]}" if unit else f"{count_of_bytes:.0f} bytes"


def changed(added: int, removed: int) -> str:
    """`+12 −3`."""
    return f"+{added:,} −{removed:,}"
