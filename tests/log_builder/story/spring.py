"""March, version 2.1.33: a plan sent back, then accepted into a second session; a nightly run and an empty session."""

from datetime import UTC, datetime, timedelta

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens, Fields
from tests.log_builder.story import harbour

PLANNING = "a1a7e000-0c33-4d0c-8e33-000000000003"
BUILDING = "b0a75000-0d44-4d0c-8e44-000000000004"
_HOOK = "python .claude/hooks/welcome.py"


def planning() -> LogBuilder:
    """Find out why summer tides are an hour late, and plan the repair."""
    log = _log(PLANNING, datetime(2026, 3, 30, 7, 45, tzinfo=UTC), branch="main", mode="plan")
    log.hook("SessionStart", _HOOK)
    log.prompt(
        "Since Sunday every tide on the board is an hour late. Find out why and make a plan; change nothing yet."
    )
    log.snapshot()
    _find_out(log)
    log.plan(harbour.FIRST_PLAN, "rejected", "Too big. Just make the times right, and keep what we show as it is.")
    return log.plan(harbour.PLAN, "cleared", say="Understood: only the times. Here is a smaller plan.")


def building(plan: LogBuilder) -> LogBuilder:
    """Carry out the plan, with the context cleared."""
    log = _log(BUILDING, plan.now + timedelta(seconds=9), branch="fix/port-time", mode="acceptEdits")
    log.hook("SessionStart", _HOOK).implement(harbour.PLAN, plan)
    _tasks(log)
    _code(log)
    _stopped(log)
    log.compact("auto", _SUMMARY, 161_204)
    _publish(log)
    return log.title("Tides in port time").system("turn_duration", durationMs=412_880)


def _log(session: str, start: datetime, branch: str, mode: str) -> LogBuilder:
    return LogBuilder(
        session_id=session,
        version="2.1.33",
        model="claude-opus-4-6",
        start=start,
        slug="tidal-mending-cormorant",
        branch=branch,
        mode=mode,
        pace=7.5,
    )


_SUMMARY = (
    "1. The tables are in port time; the reader took them for UTC.\n"
    "2. `parse` now takes the port's zone and returns a `Tide` in UTC; tests cover both nights of the clock change.\n"
    "3. Left to do: commit, push, open a pull request."
)


def _find_out(log: LogBuilder) -> None:
    log.read(harbour.PARSER, harbour.COMMA_PARSER, (log.think("An hour, since Sunday: the clocks went forward."),))
    use = log.agent_use(
        "Explore", "Find where times are shown", "Where are tide times shown or stored? Name file and line."
    )
    log.assistant(use)

    def explore(agent: LogBuilder) -> None:
        found = {"mode": "files_with_matches", "numFiles": 2, "filenames": ["harbour/board.py", "harbour/store.py"]}
        agent.call("Grep", {"pattern": r"\.time\b"}, "Found 2 files\nharbour/board.py\nharbour/store.py", found)
        agent.assistant(agent.text("Shown in `board.py:31`, stored in `store.py:12`; neither knows a time zone."))

    log.subagent(use, "Explore", "Find where times are shown", explore)
    use = log.use("Bash", command="python -m harbour dump --year 2026", description="Print every tide of the year")
    log.assistant(use)
    log.progress(
        {"type": "bash_progress", "output": "2026-01-01 ...", "elapsedTimeSeconds": 2, "totalLines": 700}, use["id"]
    )
    log.spilled(
        use, "\n".join(f"{day:03d}  high {4 + day % 20 / 10:.2f} m  low {day % 9 / 10:.2f} m" for day in range(1, 366))
    )


def _tasks(log: LogBuilder) -> None:
    subjects = ("Return tides in UTC", "Test both nights of the clock change", "Drop the old helper")
    for number, subject in enumerate(subjects, 1):
        arguments = {
            "subject": subject,
            "description": f"Step {number} of the plan",
            "activeForm": f"Working: {subject}",
        }
        said = f"Task #{number} created successfully: {subject}"
        log.call("TaskCreate", arguments, said, {"task": {"id": str(number), "subject": subject}})
    _move(log, "2", "pending", "pending", addBlockedBy=["1"])
    _move(log, "1", "pending", "in_progress")


def _move(log: LogBuilder, task: str, before: str, after: str, **fields: object) -> None:
    changed = [*fields, *([] if before == after else ["status"])]
    arguments = {"taskId": task, **fields, **({} if before == after else {"status": after})}
    moved = {} if before == after else {"statusChange": {"from": before, "to": after}}
    detail = {"success": True, "taskId": task, "updatedFields": changed, **moved}
    log.call("TaskUpdate", arguments, f"Updated task #{task} {', '.join(changed)}", detail)


def _code(log: LogBuilder) -> None:
    log.wrote(harbour.PARSER, harbour.ZONED_PARSER, harbour.COMMA_PARSER)
    log.snapshot("harbour/tides.py")
    old, new = 'parse("2026-01-12 04:37 5.21")', 'parse("2026-01-12 04:37 5,21", ZoneInfo("Europe/Lisbon"))'
    log.edited(harbour.TESTS, harbour.FIRST_TESTS, old, new, (log.text("Now the tests."),))
    log.failed("Bash", {"command": "python -m pytest -q", "description": "Run the tests"}, harbour.UNPACKED)
    log.ran("python -m pytest --color=yes", harbour.pytest_passed(9), "Run the tests again")
    _move(log, "1", "in_progress", "completed")
    _move(log, "2", "pending", "completed")
    _move(log, "3", "pending", "deleted")
    tasks = [{"id": task, "subject": subject, "status": "completed", "blockedBy": []} for task, subject in _DONE]
    log.call("TaskList", {}, "#1 [completed] Return tides in UTC\n#2 [completed] ...", {"tasks": tasks})
    log.assistant(log.text("Times are right on both sides of the change. All nine tests pass."))


_DONE = (("1", "Return tides in UTC"), ("2", "Test both nights of the clock change"))


def _stopped(log: LogBuilder) -> None:
    log.prompt("Tidy the store module as well.")
    use = log.use("Bash", command="git rm harbour/store.py", description="Remove the store")
    log.assistant(log.text("The store looks unused, I'll remove it."), use)
    log.rejected(use).interrupt(tool=True)
    log.prompt("No! The board reads it. Leave the store alone, and commit.")


def _publish(log: LogBuilder) -> None:
    commit = (
        "[fix/port-time 4be7d10] Read tides in the port's own time\n 2 files changed, 38 insertions(+), 9 deletions(-)"
    )
    made = {"commit": {"sha": "4be7d10", "kind": "committed", "branch": "fix/port-time"}}
    message = 'git commit -am "Read tides in the port\'s own time"'
    log.ran(message, commit, "Commit", gitOperation=made)
    pushed = "To github.com:dev/harbour.git\n * [new branch]      fix/port-time -> fix/port-time"
    log.ran("git push -u origin fix/port-time", pushed, "Push", gitOperation={"push": {"branch": "fix/port-time"}})
    url = "https://github.com/dev/harbour/pull/7"
    opened = {"pr": {"number": 7, "url": url, "action": "created"}}
    log.ran('gh pr create --fill --title "Tides in port time"', url, "Open a pull request", gitOperation=opened)
    log.side("pr-link", prNumber=7, prUrl=url, prRepository="dev/harbour", timestamp=log.tick())
    log.assistant(log.text(f"Committed, pushed, and opened as [#7]({url}). The store is untouched."))


NIGHTLY = "0c7a9e50-1077-4d0c-8e77-000000000007"
STUB = "57b00000-1188-4d0c-8e88-000000000008"
_SYSTEM = "You look after the tide tables of a harbour. Answer in one sentence, and name the day you looked at."
_PLACE = "Your working directory is the harbour's repository, on the branch main."
_TOOLS: list[Fields] = [
    {"name": name, "description": said, "input_schema": {"type": "object", "properties": {key: {"type": "string"}}}}
    for name, said, key in (
        ("Grep", "Search the contents of files.", "pattern"),
        ("Read", "Read a file.", "file_path"),
    )
]


def nightly() -> LogBuilder:
    """`claude -p` from a timer: one prompt, one call, one answer."""
    start = datetime(2026, 10, 15, 3, 0, tzinfo=UTC)
    log = LogBuilder(session_id=NIGHTLY, version="2.1.325", model="claude-haiku-5-5", entrypoint="sdk-cli", start=start)
    log.queue("enqueue", "Check that tomorrow's table is complete.").queue("dequeue")
    log.prompt("Check that tomorrow's table is complete.", promptSource="sdk")
    log.attached("environment", _PLACE, snapshot={"workingDirectory": log.cwd, "platform": "linux", "shell": "bash"})
    log.attached("model", "You are Haiku 5.5.", identity={"modelId": log.model, "marketingName": "Haiku 5.5"})
    log.attached("session_context", f"Current branch: {log.branch}", "user", context={"gitStatus": "clean"})
    log.attached("prompt_snapshot", "", systemPrompt=[_SYSTEM], tools=_TOOLS)
    log.sends(_SYSTEM, _TOOLS, _PLACE, purpose="sdk")
    use = log.use("Grep", pattern="^2026-10-16", path="tables/brenton-2026.txt", output_mode="count")
    detail = {"mode": "count", "numFiles": 1, "filenames": [], "content": "tables/brenton-2026.txt:4", "numMatches": 4}
    usage = DemoTokens(input=9, output=88, read=0, write=11_240, tier="batch")
    log.assistant(use, usage=usage).result(use, "tables/brenton-2026.txt:4", detail)
    log.sends(_SYSTEM, _TOOLS, _PLACE, purpose="sdk").side("tools-used", tools=["Grep"])
    last = DemoTokens(input=5, output=31, read=11_240, write=160, tier="batch")
    return log.assistant(log.text("Complete: four tides on 2026-10-16."), usage=last)


def stub() -> LogBuilder:
    """Opened, nothing said, closed: no line of conversation."""
    log = LogBuilder(session_id=STUB, version="2.1.300", start=datetime(2026, 10, 15, 8, 59, tzinfo=UTC))
    return log.side("mode", mode="normal").side("permission-mode", permissionMode="plan").snapshot()
