"""The demo's sessions, oldest first."""

from unspool.demo.builder import LogBuilder
from unspool.demo.story.an_hour_late import building, planning
from unspool.demo.story.first_light import first_light
from unspool.demo.story.release import release
from unspool.demo.story.soundings import soundings
from unspool.demo.story.storm import storm
from unspool.demo.story.watches import nightly, stub


def sessions() -> tuple[LogBuilder, ...]:
    """All of them, made anew; the same bytes every time."""
    first, plan = first_light(), planning()
    return first, soundings(first), plan, building(plan), storm(), release(), nightly(), stub()
