"""Sessions for tests, made by hand: every kind of block, prompt, branch, subagent, link and problem."""

from datetime import UTC, datetime, timedelta
from typing import Any

from unspool.model import (
    Agent,
    Block,
    Branch,
    Call,
    ChainLink,
    Image,
    Lines,
    LogFile,
    Message,
    Notice,
    Option,
    Place,
    Plan,
    Problem,
    Prompt,
    Push,
    Question,
    Questionnaire,
    Result,
    Session,
    SideLine,
    Text,
    Thinking,
    Titles,
    Todo,
    Todos,
    ToolCall,
    Turn,
    Unknown,
    Usage,
)

START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NOTICES = (
    *("hook", "reminder", "command-output", "caveat", "ide", "compaction", "micro-compaction", "summary"),
    *("interruption", "api-error", "retry", "model-switch", "refusal", "task-notification", "teammate", "peer"),
    *("attachment", "memory", "duration", "recap", "queue", "denied", "info", "never-seen"),
)


def place(line: int = 1) -> Place:
    return Place(line, line * 100, 99)


def after(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def image(label: str = "", **more: Any) -> Image:
    return Image(place(), "image/png", **{"data": DOT, "label": label, **more})


def call(name: str, given: Any = None, answer: str | None = "done", **more: Any) -> ToolCall:
    call_id = more.pop("call_id", f"call-{name}")
    result = None if answer is None else Result(place(5), call_id, answer)
    more.setdefault("state", "ok" if result else "unanswered")
    return ToolCall(place(4), call_id, name, given or {}, **{"result": result, "message": "m1", **more})


def prompt(text: str, kind: Any = "text", **more: Any) -> Prompt:
    return Prompt(place(2), kind, text, time=START, **more)


def turn(number: int, asked: Prompt | str | None, *blocks: Block) -> Turn:
    first = prompt(asked) if isinstance(asked, str) else asked
    started, ended = after(number * 10), after(number * 10 + 3)
    return Turn(number, first, blocks, started, ended, usage=Usage(10, 900, 12_000, 400), context=12_410)


def message(name: str = "m1", **more: Any) -> Message:
    usage = Usage(10, 900, 1_900_000, 4_000)
    return Message(name, more.pop("model", "sonnet-9"), (Call(f"key-{name}", "sonnet-9", usage),), **more)


def session(*turns: Turn, **more: Any) -> Session:
    """A session of these turns; fields not given are empty."""
    empty = dict.fromkeys(("branches", "messages", "agents", "side", "problems"), ())
    fixed = {"log": LogFile("logs/s1.jsonl", 34_000), "titles": Titles(), "lines": Lines(), "todos": Todos(())}
    given = {"id": "s1", "agent": "demo", "kind": "interactive", **empty, **fixed, "turns": turns, **more}
    return Session(**given)


def agent(name: str, *turns: Turn, **more: Any) -> Agent:
    inner = session(*turns, id=name, kind="subagent", messages=(message(f"m-{name}"),), **more.pop("inner", {}))
    return Agent(name, "explorer", f"look into {name}", inner, **more)


# --- one session that has everything ----------------------------------------------------------------


def notice(kind: str) -> Notice:
    facts = {"preTokens": 150_000, "postTokens": 12_000, "durationMs": 4_200, "nested": {"a": [1, None]}}
    return Notice(place(9), kind, f"What the {kind} said\nin two lines", facts, images=(image(f"of {kind}"),))


def opening() -> Turn:
    return Turn(0, None, (notice("hook"), notice("reminder")), started=START)


def words() -> Turn:
    return turn(
        1,
        prompt("Please **look** at <b>this</b>\n\n```py\nprint('hi')\n```", images=(image("a dot"),), mode="plan"),
        Thinking(place(3), "First I consider the dot.\nThen the line.", "m1"),
        Thinking(place(3), "", "m1", signature="c2ln"),
        Thinking(place(3), "", "m1", redacted=True),
        Text(place(4), "# Found\n\n1. one\n2. two with `Vec<T>`\n\n<script>alert(1)</script>", "m1"),
        image("", path="shots/one.png"),
        Unknown(place(7), "hologram", {"type": "hologram", "depth": [1, 2, {"x": "<i>"}]}),
        Text(place(8), "This was taken back.", "m2"),
    )


def calls() -> Turn:
    asked = Question(
        "Which way?", "Way", (Option("left", "the short one", chosen=True), Option("right")), answer="left"
    )
    todos = Todos((Todo("read it", "completed"), Todo("write it", "in_progress", active="writing it")))
    refused = Result(place(6), "call-x", "The user said no", error=True, denial="user-rejected", feedback="not today")
    return turn(
        2,
        prompt("/review src --deep", "command", command="/review", arguments="src --deep"),
        call("Bash", {"command": "ls -la", "description": "List"}, "total 0\n\x1b[31mred\x1b[0m\x1b]0;evil\x07 end"),
        call("Strange", {"deep": {"er": ["x", 1]}}, "", state="error", result=refused),
        call("Old", {}, "the newer answer", earlier=(Result(place(5), "call-Old", "the older answer"),)),
        call("Ask", {}, "left", meaning=Questionnaire((asked,), "answered"), call_id="call-q"),
        call("Todo", {}, "ok", meaning=todos, call_id="call-t"),
        call(
            "Plan", {}, "no", meaning=Plan("Build it", "# Build it\n\nslowly", "rejected", "too slow"), call_id="call-p"
        ),
        call("Waiting", {"for": "ever"}, None),
        call("Task", {"prompt": "look", "description": "Look"}, "agent said so", agents=("a1",), call_id="call-d"),
    )


def helper() -> Agent:
    inner = agent("a2", turn(1, "dig deeper", Text(place(), "Deeper indeed.")), call_id="call-a2")
    asks = call("Task", {"prompt": "dig"}, "deeper result", call_id="call-a2")
    problem = Problem(place(3), "not JSON", b'{"agent torn')
    more = {"agents": (inner,), "problems": (problem,)}
    return agent("a1", turn(1, "look into it", Text(place(), "I looked."), asks), call_id="call-d", inner=more)


def everything() -> Session:
    """A session with one of everything there is."""
    plan = Plan("Ship it", "# Ship it\n\nnow", "approved", path="plans/ship.md")
    accepted = prompt(
        "Implement the following plan:\n\n# Ship it\n\nnow\n\nRead on.", "plan", plan=plan, source="s0.jsonl"
    )
    turns = (
        *(opening(), words(), calls()),
        turn(3, accepted, *(notice(kind) for kind in NOTICES)),
        turn(4, prompt("git status --short", "bash"), Text(place(), "Clean.")),
        turn(5, prompt("always say please", "memory")),
        turn(6, prompt("and one more thing", "queued", origin="queued"), Text(place(), "Done, *finally*.", "m1")),
    )
    lost = Branch(1, 4, (turn(5, "never mind", Text(place(), "Lost words.")),))
    twig = Branch(2, 5, (turn(6, "a twig", Text(place(), "Twig words.")),), parent=1)
    return session(
        *turns,
        titles=Titles(custom="Everything\x1b[2J at once"),
        branches=(lost, twig),
        messages=(message(), message("m2", retracted=True, model="opus-9")),
        agents=(helper(), agent("a3", turn(1, "on my own", Text(place(), "Nobody called me.")))),
        side=(
            SideLine(place(20), "title", {"t": 1}),
            SideLine(place(21), "title", {"t": 2}),
            SideLine(place(22), "mode", {}),
        ),
        problems=(
            Problem(place(12), "not JSON: torn", b'{"type":"us\x1b[2J\xff\x00'),
            Problem(place(13), "two values glued", b"{}{}", mended=True, log="s1.jsonl"),
        ),
        lines=Lines(total=30, conversation=20, side=3, repeated=2, superseded=1, blank=2, problems=2),
        todos=Todos((Todo("read it", "completed"), Todo("ship it", "pending", id="2", blocked_by=("1",), task=True))),
        project="shop",
        cwd="home/ann/shop",
        branch="main",
        versions=("2.1.0", "2.1.3"),
        started=START,
        ended=after(107),
        links=(ChainLink("s0", "source", "path", "Planning it", "plan it"),),
        recorded=(Push("pull-request", url="https://example.org/pulls/7", repository="ann/shop", number=7),),
        reported_cost="1.25",
    )
