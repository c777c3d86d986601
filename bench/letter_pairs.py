"""Makes the table of `unspool.redact.letter_pairs`: how surprising each letter is after the one before.

    python -m bench.letter_pairs    writes src/unspool/redact/letter_pairs.txt

Learnt from what every Python has at hand: the source of its standard library, words, names and docstrings alike, each
different word counted by the logarithm of how often it stands there, so that `self` does not count for all.
"""

import math
import re
import sysconfig
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from unspool.redact.letter_pairs import CLASSES, COSTS, TABLE, classes

_WORD = re.compile(r"[A-Za-z0-9_./:-]{2,60}")
_SKIPPED = ("test", "tests", "idlelib", "encodings", "site-packages", "lib2to3", "pydoc_data")


def words() -> Counter[str]:
    """What stands between spaces and signs in the source of the standard library."""
    found: Counter[str] = Counter()
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not set(path.relative_to(root).parts[:-1]) & set(_SKIPPED):
            found.update(_WORD.findall(path.read_text("utf-8", "replace")))
    return found


def table() -> str:
    """A row for each class, a sign for each class after it: quarter bits."""
    pairs: defaultdict[tuple[int, int], float] = defaultdict(float)
    for word, count in words().items():
        if not any(sign.isalpha() for sign in word):
            continue
        seen = classes(word)
        for pair in pairwise(seen):
            pairs[pair] += 1 + math.log2(count)
    rows = []
    for first in range(CLASSES):
        every = sum(pairs[first, second] for second in range(CLASSES)) + CLASSES * 0.5
        costs = (-math.log2((pairs[first, second] + 0.5) / every) for second in range(CLASSES))
        rows.append("".join(COSTS[min(len(COSTS) - 1, round(cost * 4))] for cost in costs))
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "src" / "unspool" / "redact" / TABLE
    path.write_text(table(), "ascii")
    print(f"{path.name}: {path.stat().st_size} bytes")
