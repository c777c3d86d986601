"""Scenarios of tools: files, shell, searches, lists, long outputs, and those that are rarely used."""

from tests.live.scenario import Play
from tests.live.steps import MATCH, Step, bash, call, calls, say


def tools(play: Play) -> None:
    """Files, shell, searches: what works and what fails."""
    play.run(
        "Write flow.py and test it",
        Step(bash("ls -la && echo hi", "List the folder").calls, "Let me look.", thinking=""),
        bash("false", "Fail"),
        bash("echo out; echo err >&2; exit 3", "Fail with output"),
        bash("printf '\\033[31mred\\033[0m\\n'", "Colours"),
        *play.edits(),
        call("Edit", file_path=play.path("flow.py"), old_string="missing", new_string="x"),
        call("Write", file_path=play.path("tide.py"), content="def low():\n    return 3\n"),
        call("MultiEdit", file_path=play.path("flow.py"), edits=[{"old_string": "flow", "new_string": "ebb"}]),
        call("Grep", pattern="low", path=str(play.cwd), output_mode="content"),
        call("Grep", pattern="low"),
        call("Grep", pattern="nowhere to be found"),
        call("Glob", pattern="*.py"),
        call("LS", path=str(play.cwd)),
        call("Read", file_path=play.path("dot.png")),
        call("Read", file_path=play.path("notes.ipynb")),
        call("Read", file_path=play.path("missing.txt")),
        call("Read", file_path=play.path("tide.py"), offset=1, limit=1),
        call("NotebookEdit", notebook_path=play.path("notes.ipynb"), cell_id="c1", new_source="low() + 1"),
        bash("git add -A && git commit -qm 'Add flow' && git log --oneline", "Commit"),
        say("All of it works.", thinking="It ran."),
    )  # fmt: skip


def parallel(play: Play) -> None:
    """Several calls in one message, one of which fails."""
    reads = (call("Read", file_path=play.path(name)) for name in ("README.md", "missing.txt", "tide.py"))
    play.run(
        "Read everything",
        calls(*reads, text="I read three at once."),
        calls(bash("echo one"), bash("exit 2"), bash("echo three")),
        say("Read."),
    )


def tasks(play: Play) -> None:
    """Lists of what is to be done, old and new."""
    play.run(
        "Keep a list",
        calls(
            call("TaskCreate", subject="Write docs", description="Write the docs", activeForm="Writing"),
            call("TaskCreate", subject="Test it", description="Run the tests", activeForm="Testing"),
        ),
        call("TaskUpdate", taskId="1", status="in_progress"),
        call("TaskUpdate", taskId="2", addBlockedBy=["1"], owner="ada"),
        call("TaskList"),
        call("TaskGet", taskId="1"),
        call("TaskUpdate", taskId="1", status="completed"),
        call("TaskUpdate", taskId="9", status="deleted"),
        say("Listed."),
    )
    todos = [{"content": name, "status": "in_progress", "activeForm": f"doing {name}"} for name in ("a", "b")]
    play.run(
        "Keep a list as before",
        call("TodoWrite", todos=todos),
        call("TodoWrite", todos=[{**one, "status": "completed"} for one in todos]),
        say("Listed as before."),
        env={"CLAUDE_CODE_ENABLE_TASKS": "0"},
    )


def long_outputs(play: Play) -> None:
    """Outputs that do not fit into the log and spill beside it."""
    play.run(
        "Show me a lot",
        bash("seq 1 40000", "Count"),
        bash("head -c 300000 /dev/zero | tr '\\0' x", "One long line"),
        call("Grep", pattern="\\d", path=play.path("big.txt"), output_mode="content", head_limit=0),
        call("Read", file_path=play.path("big.txt")),
        say("That was a lot."),
    )


def web(play: Play) -> None:
    """A search that the service makes, and a page that cannot be had without a network."""
    play.run(
        "Look it up",
        call("WebSearch", query="tides"),
        call("WebFetch", url="https://example.org/tides", prompt="When is high tide?"),
        say("Looked up."),
    )


def background(play: Play) -> None:
    """Commands that run on: one ends by itself, one is stopped, one is watched."""
    play.run(
        "Start the servers",
        bash("echo started; echo done", "Short task", background=True),
        bash("echo waiting; sleep 300", "Long task", background=True),
        call("TaskOutput", task_id="b1", block=False, timeout=1000),
        call("BashOutput", bash_id="b1"),
        call(
            "Monitor", command="echo tide; echo turns", description="Watch the tide", timeout_ms=2000, persistent=False
        ),
        call("TaskStop", task_id="b_unknown"),
        call("TaskStop", task_id=MATCH + r"Long task.*?background with ID: (\w+)"),
        call("KillShell", shell_id="b1"),
        say("Started."),
    )


def rarely_used(play: Play) -> None:
    """Tools that few sessions have."""
    finding = {"file": "tide.py", "line": 1, "summary": "Low is constant", "failure_scenario": "Always 1"}
    play.run(
        "Use what is rarely used",
        call("ListAgents"),
        call("ReportFindings", level="low", findings=[finding]),
        call("ScheduleWakeup", stop=True),
        call("CronCreate", cron="7 * * * *", prompt="Look at the tide", recurring=True),
        call("CronList"),
        call("CronDelete", id="unknown"),
        call("CronDelete", id=MATCH + r"Scheduled (?:recurring )?job (\w+)"),
        call("SendMessage", to="nobody", message="Hello", summary="Greet"),
        call("ListMcpResourcesTool"),
        call("LSP", operation="hover", filePath=play.path("tide.py"), line=1, character=5),
        say("Used."),
    )
