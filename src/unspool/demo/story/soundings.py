"""February, version 2.0: finding data. An agent's file beside the session, web, notebook, questionnaire, picture."""

from datetime import UTC, datetime
from typing import Any

from unspool.demo.builder import LogBuilder
from unspool.demo.story import harbour

ID = "50adf00d-0b22-4d0c-8e22-000000000002"


def soundings(earlier: LogBuilder) -> LogBuilder:
    """Look for better tide data and let the person choose."""
    log = LogBuilder(
        session_id=ID,
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
    _todos(log)
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
        "Here is today's curve from the harbour office. Is there an open source for such data?", [harbour.wave()]
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


def _todos(log: LogBuilder) -> None:
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
    shot = [log.text("Screenshot of http://127.0.0.1:8040"), log.image(harbour.chart())]
    log.call("mcp__browser__take_screenshot", {"fullPage": True}, shot, shot)
    killed = {"message": "Successfully killed shell: b7d41e (python -m harbour serve)", "shell_id": "b7d41e"}
    log.call("KillShell", {"shell_id": "b7d41e"}, killed["message"], killed)
    log.assistant(log.text("The page shows Brenton and Skerry, water over the sill first and metres beside it."))


def _text_file(name: str, content: str) -> dict[str, Any]:
    file = {"filePath": f"{harbour.CWD}/{name}", "content": content, "numLines": 1, "startLine": 1, "totalLines": 1}
    return {"type": "text", "file": file}
