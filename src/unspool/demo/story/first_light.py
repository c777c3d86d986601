"""January, version 1.0: the project begins. Inline subagent, MultiEdit, LS, hook chatter, a root commit."""

from datetime import UTC, datetime

from unspool.demo.builder import LogBuilder
from unspool.demo.story import harbour
from unspool.demo.tools import patch

ID = "1c0ffee0-0a11-4d0c-8e11-000000000001"


def first_light() -> LogBuilder:
    """Set up a tide table reader from an empty folder."""
    log = LogBuilder(
        session_id=ID,
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
    detail["structuredPatch"] = patch(harbour.FIRST_PARSER, harbour.COMMA_PARSER)
    said = f"Applied 2 edits to {harbour.PARSER}"
    lead = (
        log.text(
            "The port prints a comma for the decimal point, and leaves blank lines between days. Two small edits."
        ),
    )
    log.call("MultiEdit", {"file_path": harbour.PARSER, "edits": edits}, said, {**detail, "userModified": False}, lead)
    log.ran("python -m pytest -q --color=yes", harbour.passed(2), "Run the tests again")


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
