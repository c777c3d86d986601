"""January and February, versions 1.0 and 2.0: inline and separate subagent files, web, notebook, questions."""

from datetime import UTC, datetime
from typing import Any

from tests.log_builder.builder import LogBuilder
from tests.log_builder.story import harbour
from tests.log_builder.tool_calls import structured_patch

FIRST_LIGHT_ID = "1c0ffee0-0a11-4d0c-8e11-000000000001"


def first_light() -> LogBuilder:
    """Set up a tide table reader from an empty folder."""
    log = LogBuilder(
        session_id=FIRST_LIGHT_ID,
        pace=7.5,
        version="1.0.88",
        model="claude-sonnet-4-20250514",
        start=datetime(2026, 1, 12, 8, 4, tzinfo=UTC),
        branch="",
    )
    log.command("init", stdout="Wrote CLAUDE.md with what I could find out about this folder.")
    _begin(log)
    _mend(log)
    _ask_around(log)
    log.user("<user-memory-input>Heights are metres above chart datum, never feet.</user-memory-input>")
    log.bash("git log --oneline", "9f3c2ab Read tide tables")
    log.prompt("Lovely. That is all for today.")
    return log.assistant(log.text("Fair winds. The reader, its tests and the first commit are in place."))


def _begin(log: LogBuilder) -> None:
    log.wait(40).prompt(
        "Start a small Python package that reads tide tables. A line looks like `2026-01-12 04:37 5.21`."
        " Tests first, please, and keep it tiny."
    )
    lead = (log.text("I'll look at what is here, then write a test and the reader."),)
    listing = f"- {harbour.CWD}/\n  - CLAUDE.md\n  - README.md\n  - tables/\n    - brenton-2026.txt\n"
    log.call("LS", {"path": harbour.CWD}, listing, listing, lead)
    _todos(log, "in_progress", "pending", "pending")
    log.wrote(harbour.TESTS, harbour.FIRST_TESTS)
    log.wrote(harbour.PARSER, harbour.FIRST_PARSER)
    use = log.use("Bash", command="python -m pytest -q", description="Run the tests")
    log.assistant(use).hook("PreToolUse:Bash", "python .claude/hooks/guard.py", toolUseID=use["id"])
    out = ".\n1 passed in 0.02s"
    log.result(use, out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False})


def _mend(log: LogBuilder) -> None:
    _todos(log, "completed", "in_progress", "pending")
    log.failed(
        "Bash", {"command": "python -m pytest -q", "description": "Run the tests on a real table"}, harbour.COMMA
    )
    edits = [
        {"old_string": "float(height)", "new_string": 'float(height.replace(",", "."))', "replace_all": False},
        {
            "old_string": '(",", "."))\n',
            "new_string": '(",", "."))\n\n\ndef parse_table(text):\n'
            "    return [parse(line) for line in text.splitlines() if line.strip()]\n",
            "replace_all": False,
        },
    ]
    detail = {"filePath": harbour.PARSER, "edits": edits, "originalFileContents": harbour.FIRST_PARSER}
    detail["structuredPatch"] = structured_patch(harbour.FIRST_PARSER, harbour.COMMA_PARSER)
    said = f"Applied 2 edits to {harbour.PARSER}"
    lead = (
        log.text(
            "The port prints a comma for the decimal point, and leaves blank lines between days. Two small edits."
        ),
    )
    log.call("MultiEdit", {"file_path": harbour.PARSER, "edits": edits}, said, {**detail, "userModified": False}, lead)
    log.ran("python -m pytest -q --color=yes", harbour.pytest_passed(2), "Run the tests again")


def _ask_around(log: LogBuilder) -> None:
    question = (
        "Which files under tables/ do not parse with harbour.tides.parse_table? List each with its first bad line."
    )
    use = log.agent_use("general-purpose", "Check the other tables", question)

    def search(agent: LogBuilder) -> None:
        agent.ran(
            "python scripts/check_tables.py tables/",
            "brenton-2026.txt: ok\nskerry-2026.txt: line 3: '---'",
            "Check tables",
        )
        agent.assistant(agent.text("One of two fails: `skerry-2026.txt` has a ruler of dashes on line 3."))

    log.assistant(log.text("Before committing, let me see whether the other tables read too."), use)
    log.subagent(use, "general-purpose", "Check the other tables", search)
    _todos(log, "completed", "completed", "in_progress")
    out = "[main (root-commit) 9f3c2ab] Read tide tables\n 4 files changed, 31 insertions(+)"
    log.ran('git init -q && git add -A && git commit -m "Read tide tables"', out, "First commit")
    log.assistant(
        log.text(
            "The reader works on Brenton's table and is committed. Skerry's has a **ruler of dashes** on line 3;"
            " I left it, since you asked to keep this tiny."
        )
    )


def _todos(log: LogBuilder, *states: str) -> None:
    names = ("Write a test for one line", "Read whole tables", "Commit")
    todos = [
        {"id": str(at), "content": name, "status": state, "priority": "medium"}
        for at, (name, state) in enumerate(zip(names, states, strict=True), 1)
    ]
    said = (
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."
    )
    log.call("TodoWrite", {"todos": todos}, said, {"oldTodos": [], "newTodos": todos})


SOUNDINGS_ID = "50adf00d-0b22-4d0c-8e22-000000000002"


def soundings(earlier: LogBuilder) -> LogBuilder:
    """Look for better tide data and let the person choose."""
    log = LogBuilder(
        session_id=SOUNDINGS_ID,
        pace=7.5,
        version="2.0.76",
        model="claude-sonnet-4-5-20250929",
        start=datetime(2026, 2, 9, 13, 20, tzinfo=UTC),
        slug="salty-humming-lantern",
    )
    log.summary("Tide table reader: first commit", str(earlier.last)).snapshot()
    _search(log)
    _explore(log)
    _ask(log)
    _sounding_todos(log)
    _notebook(log)
    _serve(log)
    log.queued("also note the licence of the data in the README")
    log.call(
        "Read", {"file_path": f"{harbour.CWD}/README.md"}, "     1→# Harbour", _text_file("README.md", "# Harbour")
    )
    log.wrote(f"{harbour.CWD}/README.md", "# Harbour\n\nTide data: open licence, with attribution.\n", "# Harbour\n")
    return log.assistant(log.text("The README now names the licence and asks for attribution."))


def _search(log: LogBuilder) -> None:
    log.prompt(
        "Here is today's curve from the harbour office. Is there an open source for such data?", [harbour.wave_png()]
    )
    lead = (
        log.think(
            "Two highs and two lows in the picture, so semidiurnal tides. I should look for open gauges near by."
        ),
        log.text("A clear semidiurnal curve. Let me look for open gauges."),
    )
    links = [
        {"title": "Open tide gauges: catalogue", "url": "https://tides.example.org/catalogue"},
        {"title": "Reading tide predictions", "url": "https://pilot.example.net/predictions"},
    ]
    query = "open tide gauge data download heights chart datum"
    results = [{"tool_use_id": "srvtoolu_01HarbourGauges", "content": links}, "Two catalogues offer downloads."]
    said = f'Web search results for query: "{query}"\n\nLinks: {links}\n\nTwo catalogues offer downloads.'
    log.call("WebSearch", {"query": query}, said, {"query": query, "results": results, "durationSeconds": 4.2}, lead)
    page = "The catalogue lists 212 gauges. Heights are metres above chart datum; times are **local to the gauge**."
    fetched = {"bytes": 18_211, "code": 200, "codeText": "OK", "result": page, "durationMs": 911}
    ask = {"url": links[0]["url"], "prompt": "Which units, which time zone, which licence?"}
    log.call("WebFetch", ask, page, {**fetched, "url": links[0]["url"]})


def _explore(log: LogBuilder) -> None:
    use = log.agent_use(
        "Explore", "Find users of parse()", "Find every caller of harbour.tides.parse and say what it expects."
    )

    def explore(agent: LogBuilder) -> None:
        found = {"filenames": [harbour.PARSER, harbour.TESTS], "durationMs": 12, "numFiles": 2, "truncated": False}
        agent.call("Glob", {"pattern": "**/*.py"}, f"{harbour.PARSER}\n{harbour.TESTS}", found)
        lines = "harbour/tides.py:6:def parse(line):\ntests/test_tides.py:5:    time, height = parse("
        detail = {"mode": "content", "numFiles": 0, "filenames": [], "content": lines, "numLines": 2}
        agent.call("Grep", {"pattern": r"parse\(", "output_mode": "content", "-n": True}, lines, detail)
        agent.assistant(agent.text("Only the tests call `parse`; they unpack a pair of time and height."))

    log.assistant(use).subagent(use, "Explore", "Find users of parse()", explore)


def _ask(log: LogBuilder) -> None:
    questions: list[dict[str, Any]] = [
        {
            "question": "Which gauges should the harbour follow?",
            "header": "Gauges",
            "multiSelect": True,
            "options": [
                {"label": "Brenton", "description": "At the mole, every ten minutes"},
                {"label": "Skerry", "description": "Outer rock, hourly"},
                {"label": "Lowmouth", "description": "Up the river, with a delay"},
            ],
        },
        {
            "question": "How should heights be shown?",
            "header": "Heights",
            "multiSelect": False,
            "options": [
                {"label": "Metres", "description": "5.21 m"},
                {"label": "Above the sill", "description": "Water over the sill, what skippers ask for"},
            ],
        },
    ]
    answers = {questions[0]["question"]: "Brenton, Skerry", questions[1]["question"]: "both, sill first"}
    pairs = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    said = f"User has answered your questions: {pairs}. You can now continue with the user's answers in mind."
    lead = (log.text("Two choices are yours:"),)
    log.call("AskUserQuestion", {"questions": questions}, said, {"questions": questions, "answers": answers}, lead)


def _sounding_todos(log: LogBuilder) -> None:
    todos = [
        {"content": "Follow Brenton and Skerry", "status": "in_progress", "activeForm": "Following Brenton and Skerry"},
        {"content": "Show water over the sill", "status": "pending", "activeForm": "Showing water over the sill"},
    ]
    said = "Todos have been modified successfully. Please proceed with the current tasks if applicable"
    log.call("TodoWrite", {"todos": todos}, said, {"oldTodos": [], "newTodos": todos})


def _notebook(log: LogBuilder) -> None:
    source = "heights = [tide.height for tide in tides]\nmax(heights) - min(heights)"
    arguments = {"notebook_path": harbour.SOUNDINGS, "cell_id": "range", "new_source": source, "edit_mode": "replace"}
    detail = {
        "new_source": source,
        "old_source": "max(heights)",
        "cell_id": "range",
        "cell_type": "code",
        "language": "python",
    }
    detail.update(edit_mode="replace", notebook_path=harbour.SOUNDINGS, error="")
    log.call("NotebookEdit", arguments, f"Updated cell range with {source}", detail)


def _serve(log: LogBuilder) -> None:
    started = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "backgroundTaskId": "b7d41e"}
    command = {"command": "python -m harbour serve", "description": "Serve the page", "run_in_background": True}
    log.call("Bash", command, "Command running in background with ID: b7d41e", started)
    out = "Listening on http://127.0.0.1:8040"
    status: dict[str, Any] = {"shellId": "b7d41e", "command": "python -m harbour serve", "status": "running"}
    status.update(exitCode=None, stdout=out, stderr="", stdoutLines=1, stderrLines=0)
    status["timestamp"] = "2026-02-09T13:31:05.000Z"
    log.call("BashOutput", {"bash_id": "b7d41e"}, f"<status>running</status>\n\n<stdout>\n{out}\n</stdout>", status)
    shot = [log.text("Screenshot of http://127.0.0.1:8040"), log.image(harbour.chart_png())]
    log.call("mcp__browser__take_screenshot", {"fullPage": True}, shot, shot)
    killed = {"message": "Successfully killed shell: b7d41e (python -m harbour serve)", "shell_id": "b7d41e"}
    log.call("KillShell", {"shell_id": "b7d41e"}, killed["message"], killed)
    log.assistant(log.text("The page shows Brenton and Skerry, water over the sill first and metres beside it."))


def _text_file(name: str, content: str) -> dict[str, Any]:
    file = {"filePath": f"{harbour.CWD}/{name}", "content": content, "numLines": 1, "startLine": 1, "totalLines": 1}
    return {"type": "text", "file": file}
