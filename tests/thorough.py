"""How hard the tests try: few tries by default, very many with `scripts/test --thorough` (or UNSPOOL_THOROUGH=1).

What is only tried when thorough has a smaller case beside it that always runs.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")

THOROUGH = bool(os.environ.get("UNSPOOL_THOROUGH"))
EXAMPLES = 1000 if THOROUGH else 30
"""Examples of a property, unless it says otherwise."""

thorough = pytest.mark.thorough
"""A test or a case that is left out by default; `tests/conftest.py` does that."""


def tries(few: int, many: int) -> int:
    """How often to try something: examples, kills, mutants, megabytes."""
    return many if THOROUGH else few


def some(cases: Sequence[Case], every: int) -> list[Case]:
    """All cases when thorough; by default the first of every so many."""
    return list(cases if THOROUGH else cases[::every])
