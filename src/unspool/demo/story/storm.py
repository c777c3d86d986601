"""August, version 2.1.230: a long day. Hooks, IDE notices, a skill, a language server, agents in the background,
an approved plan, a queued prompt, errors and retries, a refused answer, a rewound branch.
"""

from datetime import UTC, datetime

from unspool.demo.builder import LogBuilder
from unspool.demo.story import harbour, weather

ID = "57024000-0e55-4d0c-8e55-000000000005"


def storm() -> LogBuilder:
    """Add a storm surge to the predictions."""
    log = LogBuilder(
        session_id=ID,
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
    weather.agents(log)
    weather.trouble(log)
    weather.refusal(log)
    weather.second_thoughts(log)
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
    answer = [log.text("988 hPa, falling"), log.image(harbour.wave(48, 24))]
    log.assistant(first, lambda: log.result(first, answer, answer, mcpMeta={"serverName": "weather"}), second)
    picture = log.image(harbour.chart())
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
        harbour.passed(14),
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
