"""How long `unspool --help` takes beside a Python that does nothing."""

import sys

from bench.answers import UNSPOOL
from bench.measure import median
from bench.table import Row

AIM = 3
TIMES = 25


def row() -> Row:
    """The middling of many runs each; the ratio is the aim, since machines differ."""
    help_, bare = median([UNSPOOL, "--help"], TIMES), median([sys.executable, "-c", "pass"], TIMES)
    ratio = help_.seconds / bare.seconds
    ours = help_.failed or f"{help_.seconds * 1000:.0f} ms"
    met = not help_.failed and ratio <= AIM
    return Row("--help", ours, f"python -c pass: {bare.seconds * 1000:.0f} ms", f"{ratio:.1f}x", f"<= {AIM}x", met)
