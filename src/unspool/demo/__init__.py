"""Made-up sessions that show all a log can hold, always the same bytes. Standard library only."""

from pathlib import Path

from unspool.demo.builder import LogBuilder
from unspool.demo.story.autumn import release, storm
from unspool.demo.story.spring import building, nightly, planning, stub
from unspool.demo.story.winter import first_light, soundings


def demo_sessions() -> tuple[LogBuilder, ...]:
    """All of them, made anew; the same bytes every time."""
    first, plan = first_light(), planning()
    return first, soundings(first), plan, building(plan), storm(), release(), nightly(), stub()


def write_demo(root: Path) -> Path:
    """Write the demo's sessions below root as Claude Code would, in `root/projects`; gives root."""
    for log in demo_sessions():
        log.write(root)
    return root
