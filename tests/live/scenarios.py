"""Every scenario of Claude Code by its name; and, as a program, all of them at once into a folder.

python -m tests.live.scenarios FOLDER [NAME ...]
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.live.scenario import Play, Played, Scenario
from tests.live.stage import Stage
from tests.live.stories import around, screen, sessions, subagents, tools, trouble

_TOLD: tuple[Callable[[Play], None], ...] = (
    tools.tools,
    tools.parallel,
    tools.tasks,
    tools.long_outputs,
    tools.web,
    tools.background,
    tools.rarely_used,
    subagents.subagent,
    subagents.subagents_together,
    subagents.workflow,
    subagents.isolated_agent,
    subagents.teammates,
    sessions.resumed,
    sessions.forked,
    sessions.rewound,
    sessions.compacted,
    sessions.compacted_by_itself,
    sessions.cleared,
    sessions.commands,
    sessions.commands_of_its_own,
    sessions.named,
    sessions.as_somebody,
    sessions.thinking,
    sessions.models,
    sessions.in_background,
    trouble.errors,
    trouble.refused,
    trouble.broken_off,
    trouble.too_long,
    trouble.fallen_back,
    around.pictures,
    around.streamed,
    around.mcp,
    around.hooks,
    around.memory,
    around.worktrees,
    around.pull_request,
    around.secrets,
    screen.screen,
    screen.permissions,
    screen.question,
    screen.plan_accepted,
    screen.plan_refused,
    screen.queued,
    screen.interrupted,
    screen.cleared_at_screen,
    screen.rewound_at_screen,
    screen.bash_mode,
    screen.commands_at_screen,
    screen.changed_outside,
    screen.branched,
    screen.trouble_at_screen,
    screen.team,
)

SCENARIOS: dict[str, Scenario] = {tell.__name__: Scenario(tell) for tell in _TOLD}


def play(names: Iterable[str], folder: Path) -> Iterator[tuple[str, Played]]:
    """These scenarios, one after the other: logs under `folder`/config, repositories under `folder`/work."""
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    with Stage() as stage:
        for name in names:
            yield name, SCENARIOS[name].play(stage, config, folder / "work" / name)


def main(folder: Path, names: list[str]) -> None:
    """Play, and say of each what it left and what this version does not offer."""
    shutil.rmtree(folder, ignore_errors=True)
    begun = time.monotonic()
    for name, played in play(names or list(SCENARIOS), folder):
        left = f"; not played: {', '.join(played.not_played)}" if played.not_played else ""
        took, begun = time.monotonic() - begun, time.monotonic()
        sys.stdout.write(f"{name}: {len(played.sessions)} sessions in {took:.1f} s{left}\n")
        sys.stdout.writelines(f"  {failure}\n" for failure in played.failures)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
