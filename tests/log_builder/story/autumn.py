"""August to October, versions 2.1.230 and 2.1.300: background agents, errors, a branch, a release."""

from datetime import UTC, datetime

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.log_builder.story import harbour


def tell_agents(log: LogBuilder) -> None:
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


def tell_trouble(log: LogBuilder) -> None:
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


def tell_refusal(log: LogBuilder) -> None:
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


def tell_second_thoughts(log: LogBuilder) -> None:
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


STORM_ID = "57024000-0e55-4d0c-8e55-000000000005"


def storm() -> LogBuilder:
    """Add a storm surge to the predictions."""
    log = LogBuilder(
        session_id=STORM_ID,
        pace=7.5,
        version="2.1.230",
        model="claude-opus-5",
        start=datetime(2026, 8, 19, 6, 30, tzinfo=UTC),
        slug="add-the-surge-snug-petrel",
        branch="surge",
        entrypoint="claude-vscode",
    )
    _morning(log)
    _tools(log)
    _plan(log)
    _carry_out(log)
    tell_agents(log)
    tell_trouble(log)
    tell_refusal(log)
    tell_second_thoughts(log)
    log.ai_title("Add the storm surge to predictions")
    log.side("last-prompt", lastPrompt="Save it where the lock keeper finds it.", leafUuid=log.last)
    return log.side("mode", mode="normal").side("permission-mode", permissionMode="default")


def _morning(log: LogBuilder) -> None:
    log.side("permission-mode", permissionMode="default").hook(
        "SessionStart", "python hooks/welcome.py", "Tide board: 3 open issues"
    )
    log.attachment(
        "hook_additional_context", content=["Heights are metres."], hookName="SessionStart", hookEvent="SessionStart"
    )
    log.snapshot()
    log.user(
        [
            log.text(f"<ide_opened_file>The user opened the file {harbour.PARSER} in the IDE.</ide_opened_file>"),
            log.text("A gale is forecast. Add the surge to the predicted heights: low pressure lifts the water."),
        ],
        promptSource="typed",
        permissionMode="default",
        origin={"kind": "human"},
    )
    log.attachment("opened_file_in_ide", filename=harbour.PARSER)
    passage = {"lineStart": 18, "lineEnd": 22, "content": "def parse(line: str, zone: ZoneInfo) -> Tide:"}
    log.attachment(
        "selected_lines_in_ide",
        ideName="Visual Studio Code",
        filename=harbour.PARSER,
        displayPath="tides.py",
        **passage,
    )
    log.attachment("task_reminder", content=[], itemCount=0)
    log.meta("<system-reminder>\nThe date has changed. Today is 2026-08-19.\n</system-reminder>")
    log.ai_title("Storm surge")


def _tools(log: LogBuilder) -> None:
    matches = ["LSP", "mcp__weather__pressure"]
    found = [{"type": "tool_reference", "tool_name": name} for name in matches]
    detail = {"matches": matches, "query": "select:LSP,pressure", "total_deferred_tools": 21}
    log.call("ToolSearch", {"query": "select:LSP,pressure", "max_results": 5}, found, detail, (log.think(),))
    skill = log.use("Skill", skill="units", args="surge")
    log.assistant(skill).result(skill, "Launching skill: units", {"success": True, "commandName": "units"})
    base = f"Base directory for this skill: {harbour.CWD}/.claude/skills/units"
    body = f"{base}\n\nOne hectopascal is one centimetre of water."
    log.user([log.text(body)], isMeta=True, sourceToolUseID=skill["id"])
    hover = "(function) parse(line: str, zone: ZoneInfo) -> Tide"
    where = {"operation": "hover", "filePath": harbour.PARSER, "line": 18, "character": 5}
    log.call("LSP", where, hover, {"operation": "hover", "filePath": harbour.PARSER, "result": hover, "resultCount": 1})
    _parallel(log)


def _parallel(log: LogBuilder) -> None:
    """Two calls in one message; the first is answered while the second still streams."""
    first = log.use("mcp__weather__pressure", station="Brenton")
    second = log.use("Read", file_path=f"{harbour.CWD}/docs/chart.png")
    answer = [log.text("988 hPa, falling"), log.image(harbour.wave_png(48, 24))]
    log.assistant(first, lambda: log.result(first, answer, answer, mcpMeta={"serverName": "weather"}), second)
    picture = log.image(harbour.chart_png())
    size = {"originalWidth": 48, "originalHeight": 48, "displayWidth": 48, "displayHeight": 48}
    file = {"base64": picture["source"]["data"], "type": "image/png", "originalSize": 214, "dimensions": size}
    log.result(second, [picture], {"type": "image", "file": file})
    log.meta("[Image: original 48x48, displayed at 48x48.]")


def _plan(log: LogBuilder) -> None:
    log.attachment("plan_mode", reminderType="full", isSubAgent=False, planFilePath=log.plan_path, planExists=False)
    text = (
        "# Surge\n\n- A hectopascal below 1013 lifts the water by a centimetre.\n- Apply it when a height is shown.\n"
    )
    log.plan(text, "approved", edited=text + "- Show the surge apart, so that skippers see both.\n")
    log.attachment("plan_mode_exit", planFilePath=log.plan_path, planExists=True)
    before = harbour.ZONED_PARSER
    old = "    time: datetime\n    height: float\n"
    log.edited(harbour.PARSER, before, old, old + "    surge: float = 0.0\n", (log.think(),))
    problem = {
        "message": "Tide is missing a docstring entry for surge",
        "severity": "Hint",
        "source": "pylint",
        "code": "C0116",
    }
    spot = {"start": {"line": 13, "character": 4}, "end": {"line": 13, "character": 9}}
    log.attachment(
        "diagnostics", files=[{"uri": harbour.PARSER, "diagnostics": [{**problem, "range": spot}]}], isNew=True
    )


def _carry_out(log: LogBuilder) -> None:
    """A prompt queued in the middle of the work is taken up in it."""
    log.queued("and show it in centimetres")
    log.attachment(
        "edited_text_file", filename=harbour.PARSER, snippet="12\t    height: float\n13\t    surge: float = 0.0"
    )
    log.ran(
        "python -m pytest --color=yes",
        harbour.pytest_passed(14),
        "Run the tests",
        (log.text("Centimetres it is."),),
        noOutputExpected=False,
    )
    log.assistant(log.text("The board now shows `5.21 m (+25 cm)`: the table's height, and the surge beside it."))
    command = {"command": "python hooks/lint.py", "durationMs": 120}
    log.system(
        "stop_hook_summary",
        hookCount=1,
        hookInfos=[command],
        hookErrors=[],
        preventedContinuation=False,
        stopReason="",
        hasOutput=False,
        level="suggestion",
        toolUseID=log.ids.uuid(),
    )
    log.system("turn_duration", durationMs=93_410, messageCount=21)


RELEASE_ID = "2e1ea5e0-0f66-4d0c-8e66-000000000006"


def release() -> LogBuilder:
    """Release version 1.0, with a crash in the middle."""
    log = LogBuilder(
        session_id=RELEASE_ID,
        pace=7.5,
        version="2.1.300",
        model="claude-opus-5-5",
        start=datetime(2026, 10, 14, 15, 2, tzinfo=UTC),
        branch="release/1.0",
    )
    log.snapshot()
    log.local_command("model", stdout="Set model to \x1b[1mOpus 5.5\x1b[22m (default)")
    log.command(
        "changelog",
        "since v0.9",
        body="Write the changelog for the given range, one line a change, in the user's words.",
    )
    _changelog(log)
    _compacted(log)
    _strange(log)
    log.wait(120).prompt("How shall we tell him?")
    log.plan("# Tell the lock keeper\n\nPrint the changelog and walk over.\n", "pending")
    return _leave(log)


def _changelog(log: LogBuilder) -> None:
    lead = (log.think(), log.redacted(), log.text("Reading the history since the last tag."))
    history = "4be7d10 Read tides in the port's own time\nc91a0fe Show the surge beside the height"
    fast = DemoTokens(input=3, output=212, read=21_400, write=1_180, hour=1_180, thinking=96, speed="fast")
    use = log.use("Bash", command="git log --oneline v0.9..HEAD", description="History since v0.9")
    log.assistant(*lead, use, usage=fast).result(use, history, {"stdout": history, "stderr": "", "interrupted": False})
    path = f"{harbour.CWD}/CHANGELOG.md"
    text = (
        "# Changelog\n\n## 1.0\n\n- Tides are right in summer, too.\n- The surge of a storm stands beside the height.\n"
    )
    log.wrote(path, text)
    log.side(
        "file-history-delta",
        messageId=log.last,
        snapshotMessageId=log.ids.uuid(),
        trackingPath="CHANGELOG.md",
        backup={"backupFileName": None, "version": 1, "backupTime": log.tick()},
        timestamp=log.tick(),
    )
    table = "| change | since |\n|---|---|\n| summer times | #7 |\n| surge | #9 |"
    log.assistant(log.text(f"Two entries, both in words a skipper would use:\n\n{table}"))


def _compacted(log: LogBuilder) -> None:
    summary = "The changelog for 1.0 is written; tagging is next."
    log.compact("manual", summary, 61_020, keep=[str(log.last)], postTokens=5_410, durationMs=18_700)
    log.attachment("compact_file_reference", filename=f"{harbour.CWD}/CHANGELOG.md", displayPath="CHANGELOG.md")


def _strange(log: LogBuilder) -> None:
    """What a reader has never met, and what a crash leaves behind."""
    log.prompt("Tag it, but ask the almanac first whether the day is lucky.")
    log.raw(
        b'{"parentUuid":"'
        + str(log.last).encode()
        + b'","type":"assistant","message":{"role":"assistant","content":[{"type":"te\n'
    )
    log.side("tide-oracle", verdict="auspicious", confidence=0.97)
    oracle = {"type": "almanac_reading", "sign": "spring tide", "luck": 7}
    asked = log.last
    log.put({"type": "barometer", "pressure": 1018, "trend": "rising"}).rewind(asked)
    use = log.use("Bash", command='git commit -am "Release 1.0" && git tag v1.0', description="Commit and tag")
    log.assistant(oracle, log.text("The almanac says spring tide, luck seven. Tagging."), use)
    out = "[release/1.0 d00dfee] Release 1.0\n 1 file changed, 6 insertions(+)"
    made = {"commit": {"sha": "d00dfee", "kind": "committed", "branch": "release/1.0"}}
    log.result(use, out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False, "gitOperation": made})
    log.assistant(log.text("Version **1.0** is tagged. Only the lock keeper does not know yet."))


def _leave(log: LogBuilder) -> LogBuilder:
    log.title("Release 1.0").ai_title("Write changelog and tag release").side("agent-name", agentName="release-1-0")
    spent = {"inputTokens": 41, "outputTokens": 2_310, "thinkingTokens": 310, "cacheReadInputTokens": 148_000}
    spent.update(cacheCreationInputTokens=31_400, webSearchRequests=0)
    return log.side(
        "cost-state",
        totalCostUSD=0.3271,
        totalAPIDuration=48_200,
        totalAPIDurationWithoutRetries=48_200,
        totalToolDuration=1_900,
        totalDuration=402_000,
        totalLinesAdded=12,
        totalLinesRemoved=0,
        startTime=int(log.start.timestamp() * 1000),
        modelUsage={"claude-opus-5-5": {**spent, "costUSD": 0.3271}},
        hasUnknownModelCost=False,
    )
