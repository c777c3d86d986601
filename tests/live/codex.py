"""The scenarios of Codex: a little of each tool, and a session gone on with."""

from pathlib import Path

from tests.live.scenario import Played
from tests.live.stage import Stage
from tests.live.steps import Step, call, say

_PATCH = "*** Begin Patch\n*** Add File: tide.py\n+def low():\n+    return 1\n*** End Patch\n"


def play_codex(config: Path, work: Path) -> dict[str, Played]:
    """All of them, in a folder each."""
    with Stage() as stage:
        return {name: _played(stage, config, work / name, turns) for name, turns in TURNS.items()}


def _played(stage: Stage, config: Path, cwd: Path, turns: list[tuple[str, list[Step]]]) -> Played:
    cwd.mkdir(parents=True)
    before = set(_sessions(config))
    runs = []
    resume = ""
    for prompt, steps in turns:
        runs.append(stage.run_codex(config, cwd, prompt, steps, resume=resume))
        resume = next(iter(set(_sessions(config)) - before), "")
    return Played(sorted(set(_sessions(config)) - before), runs)


def _sessions(config: Path) -> list[str]:
    return [log.stem[-36:] for log in config.glob("sessions/**/rollout-*.jsonl")]


TURNS: dict[str, list[tuple[str, list[Step]]]] = {
    "tools": [
        (
            "Write tide.py",
            [
                Step(call("exec_command", cmd="ls -la && echo hi").calls, "I look.", "Let me look."),
                call("shell", command=["bash", "-lc", "ls -la"]),
                call("shell_command", command="ls -la"),
                call("apply_patch", **{"*": _PATCH}),
                call("exec_command", cmd=f"apply_patch <<'EOF'\n{_PATCH}EOF"),
                call("exec_command", cmd="exit 3"),
                call("update_plan", plan=[{"step": "a", "status": "in_progress"}]),
                call("view_image", path="missing.png"),
                say("Written.", thinking="It works."),
            ],
        )
    ],
    "resumed": [
        ("First", [say("First done.")]),
        ("Second", [call("exec_command", cmd="echo two"), say("Second done.")]),
    ],
}
