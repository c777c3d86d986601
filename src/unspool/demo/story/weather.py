"""The rougher half of the storm: agents in the background, errors, a refused answer, a change of mind."""

from unspool.demo.builder import LogBuilder
from unspool.demo.story import harbour


def agents(log: LogBuilder) -> None:
    """An agent in the background, with an agent of its own, and the notice that it ended."""
    log.wait(900).prompt("Check last winter's gales against the gauges. Take your time, in the background is fine.")
    order = "Compare predicted and measured heights for the gales of last winter."
    use = log.agent_use("general-purpose", "Check last winter's gales", order, run_in_background=True)
    log.assistant(log.think(), use)
    log.subagent(use, "general-purpose", "Check last winter's gales", _compare, background=True)
    log.assistant(log.text("Started. I'll tell you what it finds."))
    task = {"taskId": log.children[-1].agent, "taskType": "local_agent", "status": "running", "deltaSummary": None}
    log.attachment("task_status", **task, description="Check last winter's gales", outputFilePath="")
    finding = "Four of five gales are within 6 cm; on 2026-01-27 wind added another 30 cm."
    log.wait(95).notify(use, 'Agent "Check last winter\'s gales" completed', finding)
    log.assistant(
        log.text(
            "The rule holds for four gales of five. On 27 January **wind** added 30 cm that pressure does not explain."
        )
    )


def _compare(agent: LogBuilder) -> None:
    use = agent.agent_use("Explore", "Find gauge files", "Which files hold measured heights?")

    def find(nested: LogBuilder) -> None:
        found = {"filenames": ["data/brenton.csv"], "durationMs": 8, "numFiles": 1, "truncated": False}
        nested.call("Glob", {"pattern": "data/*.csv"}, "data/brenton.csv", found)
        nested.assistant(nested.text("`data/brenton.csv`, one row every ten minutes."))

    agent.assistant(use).subagent(use, "Explore", "Find gauge files", find)
    agent.ran("python scripts/compare.py data/brenton.csv", "gale 3: +30 cm unexplained", "Compare")
    agent.assistant(agent.text("Four of five gales are within 6 cm; on 2026-01-27 wind added another 30 cm."))


def trouble(log: LogBuilder) -> None:
    """A rule says no, a command runs on in the background, the API is overloaded, and the person stops it all."""
    log.prompt("Then fetch the wind for that day, too.", promptSource="typed")
    use = log.use("Bash", command="curl -sO https://wind.example.org/2026-01-27.csv", description="Fetch the wind")
    log.assistant(use)
    denied = "Permission to use Bash with command curl -sO https://wind.example.org/2026-01-27.csv has been denied."
    log.result(use, denied, f"Error: {denied}", error=True, toolDenialKind="permission-rule")
    blocked = {"blockingError": "curl is not allowed here", "command": "python hooks/guard.py"}
    log.attachment(
        "hook_blocking_error",
        hookName="PreToolUse:Bash",
        toolUseID=use["id"],
        hookEvent="PreToolUse",
        blockingError=blocked,
    )
    running = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "backgroundTaskId": "bk3w9d2"}
    arguments = {"command": "python -m harbour watch", "description": "Watch the gauge", "run_in_background": True}
    log.call("Bash", arguments, "Command running in background with ID: bk3w9d2", running)
    error = {"status": 529, "error": {"type": "overloaded_error", "message": "Overloaded"}}
    for attempt in (1, 2):
        log.system(
            "api_error",
            level="error",
            error=error,
            retryInMs=600 * attempt,
            retryAttempt=attempt,
            maxRetries=10,
            source="request_retry",
        )
    log.synthetic(
        "API Error: 529 Overloaded. Try again in a moment.",
        isApiErrorMessage=True,
        error="overloaded",
        apiErrorStatus=529,
    )
    log.wait(60).prompt("Try again.")
    log.assistant(log.text("The wind file is behind a rule of yours, so I would need"), isAbortedMidStream=True)
    log.interrupt(interruptedMessageId=log.last_message)


def refusal(log: LogBuilder) -> None:
    """An answer withdrawn, and given by another model."""
    log.prompt("Write the warning text for the lock keeper.")
    asked = log.last
    log.assistant(log.text("I can't help with"), stop="refusal")
    withdrawn = log.last
    log.system(
        "model_refusal_fallback",
        content="Switched model to answer this",
        level="info",
        originalModel="claude-opus-5",
        fallbackModel="claude-sonnet-5",
        trigger="refusal",
        direction="down",
        scope="turn",
        apiRefusalCategory="other",
        refusedUserMessageUuid=asked,
        retractedMessageUuids=[withdrawn],
    )
    change = {"type": "fallback", "from": {"model": "claude-opus-5"}, "to": {"model": "claude-sonnet-5"}}
    warning = "> Gale warning. Expect 30 cm above the table from 04:00. Keep the sill gate shut until 07:30."
    log.assistant(change, log.text(warning), model="claude-sonnet-5", supersedesUuids=[withdrawn])


def second_thoughts(log: LogBuilder) -> None:
    """A prompt taken back and put differently: the first way stays as a branch. Then the recap of an absence."""
    fork = log.last
    log.prompt("Make it longer, with the physics.")
    log.assistant(
        log.text(
            "Low pressure lifts the sea: one hectopascal, one centimetre. Today the air weighs 25 hPa less, so ..."
        )
    )
    log.rewind(fork).prompt("Keep it to one sentence.")
    log.assistant(log.text("Gale: 30 cm above the table from 04:00, gate shut until 07:30."))
    log.wait(3600).system(
        "away_summary",
        content="The surge is on the board and the lock keeper's warning is written. (disable recaps in /config)",
    )
    log.wait(30).prompt("Save it where the lock keeper finds it.")
    keep = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-GALE", "+GALE WARNING"]}]
    note = {
        "filePath": f"{harbour.CWD}/docs/warning.txt",
        "content": "GALE WARNING\n",
        "structuredPatch": keep,
        "originalFile": "GALE\n",
    }
    said = f"The file {harbour.CWD}/docs/warning.txt has been updated successfully."
    log.call("Write", {"file_path": note["filePath"], "content": "GALE WARNING\n"}, said, {"type": "update", **note})
    log.assistant(log.text("Saved as `docs/warning.txt`."))
