"""Which words differ between two versions of a line: what lies between their common beginning and common end."""

from string import ascii_letters, digits

_WORD = f"{ascii_letters}{digits}_&;"  # the last two so that no character written as `&lt;` is cut
_HEAD = 12  # characters by which a line is known again where it has moved
_IN_WORD = frozenset(_WORD)


def mark(taken: list[str], put: list[str]) -> None:
    """Mark, in place, the words that differ between lines taken out and the lines put in for them."""
    free = dict(enumerate(put))
    begins = {line.lstrip()[:_HEAD]: number for number, line in reversed(free.items())}
    for number, line in enumerate(taken):
        other = begins.get(line.lstrip()[:_HEAD], number)
        other = other if other in free else number
        if other in free:
            taken[number], put[other] = marked(line, free.pop(other))


def marked(old: str, new: str) -> tuple[str, str]:
    """Two lines of escaped text with their differing words marked; as they are where little is common."""
    least = min(len(old), len(new)) // 3
    before = _alike(old, new)
    after = _alike(old[before:][::-1], new[before:][::-1]) if old[-1:] == new[-1:] else 0
    if before + after <= least:
        return old, new
    before, after = _whole_words(old, new, before, after)
    if len(old[:before].strip()) + after <= least:
        return old, new
    return _mark(old, before, after), _mark(new, before, after)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with, found by halving, so that most of the work is comparing slices."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _whole_words(old: str, new: str, before: int, after: int) -> tuple[int, int]:
    """The ends moved outwards so that they cut no word."""
    if old[before : before + 1] in _IN_WORD or new[before : before + 1] in _IN_WORD:
        before = len(old[:before].rstrip(_WORD))
    end, other = len(old) - after, len(new) - after
    if old[max(end - 1, 0) : end] in _IN_WORD or new[max(other - 1, 0) : other] in _IN_WORD:
        after = len(old[end:].lstrip(_WORD))
    return before, after


def _mark(line: str, before: int, after: int) -> str:
    end = len(line) - after
    return f"{line[:before]}<mark>{line[before:end]}</mark>{line[end:]}" if end > before else line
