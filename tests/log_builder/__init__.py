"""Builds logs as Claude Code writes them, always the same bytes: for tests, and for the demo that unspool ships.

`python -m tests.log_builder` writes the demo's files anew after a change of its story.
"""

from tests.log_builder.builder import LogBuilder
from tests.log_builder.story.autumn import release, storm
from tests.log_builder.story.spring import building, nightly, planning, stub
from tests.log_builder.story.winter import first_light, soundings


def demo_sessions() -> tuple[LogBuilder, ...]:
    """The sessions of the demo, made anew."""
    first, plan = first_light(), planning()
    return first, soundings(first), plan, building(plan), storm(), release(), nightly(), stub()
