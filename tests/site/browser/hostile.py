"""Sessions whose every field is an attack: several hundred texts, dealt out to every place that is ever shown."""

from itertools import islice
from pathlib import Path
from typing import Any

from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from tests.render.html.payloads import PAYLOADS

EXTRA = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script><!--",
    "<img src=x onerror=window.pwned=1>",
    "<svg/onload=window.pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "![x](https://evil.test/pixel.png)",
    "<img src=https://evil.test/pixel.png>",
    "</title></head></main></body></html><script>window.pwned=1</script>",
    "\u202egnp.exe\u2066\u2067 <b>bidi</b>",
    "\x1b]8;;javascript:window.pwned=1\x1b\\link\x1b]8;;\x1b\\ \x1b[999C\x1b[41mred",
    "W" * 400,
    "w\u00a0" * 300,
    "\n".join(["deep " * 60] * 3),
)
TEXTS = [text.replace("alert(1)", "window.pwned=1") for text in (*EXTRA, *PAYLOADS)]
SESSIONS = 4


class Deck:
    """Texts dealt one after the other, for ever."""

    def __init__(self, first: int = 0) -> None:
        self.at = first

    def __call__(self) -> str:
        self.at += 1
        return TEXTS[(self.at - 1) % len(TEXTS)]


def write(source: Path) -> Deck:
    """Write the sessions below a source; gives the deck, which tells how many texts were dealt."""
    deal = Deck()
    for number in range(SESSIONS):
        _session(number, deal).write(source)
    return deal


def _session(number: int, deal: Deck) -> LogBuilder:
    log = LogBuilder(
        session_id=f"{number:08x}-bad0-4000-8000-000000000000",
        cwd=f"/home/{deal()[:80] or 'x'}",
        slug=deal()[:200],
        branch=deal(),
        model=deal() if number % 2 else "claude-opus-4-8",
        entrypoint=deal(),
        start=LogBuilder().start.replace(day=number + 1),
    )
    _sides(log, deal)
    for _ in range(2):
        _turn(log, deal)
        _tools(log, deal)
        _cards(log, deal)
        _agents(log, deal)
        _notices(log, deal)
    _branch(log, deal)
    _broken(log, deal)
    log.summary(deal(), str(log.last)).ai_title(deal()).title(deal())
    return log


def _sides(log: LogBuilder, deal: Deck) -> None:
    log.side("agent-name", agentName=deal()).side("agent-color", agentColor=deal()).side("tag", tag=deal())
    log.side("pr-link", prNumber=7, prUrl=deal(), prRepository=deal()).side("last-prompt", lastPrompt=deal())
    log.side(deal(), anything=deal())


def _turn(log: LogBuilder, deal: Deck) -> None:
    dot = make_png(2, 2, bytes(4))
    log.prompt(deal()).prompt("\n\n".join(islice(iter(deal, None), 12)), (dot,))
    log.assistant(log.think(deal()), log.text(deal()), log.redacted(), log.text("\n\n".join(deal() for _ in range(12))))
    log.command(deal(), deal(), deal()).command("init", deal(), body=deal()).local_command(deal(), deal(), deal())
    log.bash(deal(), deal(), deal()).queued(deal()).synthetic(deal(), error=deal(), isApiErrorMessage=True)
    log.user([{"type": "image", "source": {"type": "url", "url": deal()}}, {"type": deal(), "x": deal()}])
    log.user([{**log.image(dot), "source": {"type": "base64", "media_type": deal(), "data": deal()}}])
    log.user([{"type": "document", "title": deal(), "source": {"type": "text", "media_type": deal(), "data": deal()}}])


def _tools(log: LogBuilder, deal: Deck) -> None:
    log.ran(deal(), deal(), deal(), stderr=deal()).read(deal(), deal()).wrote(deal(), deal(), deal())
    before = f"a\n{deal()}\nb\n"
    log.edited(deal(), before, "a\n", f"{deal()}\n").failed("Bash", {"command": deal()}, deal())
    message, place = deal(), deal()
    log.ran(f'git commit -m "{message}"', f"[{place} 1a2b3c4] {message}\n 1 file changed, 1 insertion(+)")
    log.ran("git push", f"To {deal()}\n   1a2b3c4..2b3c4d5  {place} -> {place}")
    for name in ("Grep", "Glob", "WebFetch", "WebSearch", "NotebookEdit", "LS", "Skill", "LSP", "MultiEdit", deal()):
        shapes: dict[str, Any] = {"pattern": deal(), "path": deal(), "url": deal(), "query": deal(), "skill": deal()}
        answer = {"filenames": [deal()], "content": deal(), "mode": deal(), "url": deal(), "results": [deal()]}
        log.call(
            name, {**shapes, deal(): deal(), "edits": [{"old_string": deal(), "new_string": deal()}]}, deal(), answer
        )
    log.call(f"mcp__{deal()}__{deal()}", {deal(): {deal(): [deal()]}}, [log.text(deal())], {deal(): deal()})
    found = [{"type": "web_search_result", "title": deal(), "url": deal(), "encrypted_content": ""}]
    server = log.server_use("web_search", query=deal())
    log.assistant(server, {"type": "web_search_tool_result", "tool_use_id": server["id"], "content": found})


def _cards(log: LogBuilder, deal: Deck) -> None:
    states = ("pending", "in_progress", "completed", deal())
    todos = [{"content": deal(), "status": state, "activeForm": deal(), "priority": deal()} for state in states]
    log.call("TodoWrite", {"todos": todos}, deal(), {"oldTodos": [], "newTodos": todos})
    log.call(
        "TaskCreate", {"subject": deal(), "description": deal()}, deal(), {"task": {"id": deal(), "subject": deal()}}
    )
    log.plan(f"# {deal()}\n\n{deal()}", "approved", edited=deal()).plan(deal(), "rejected", deal())
    options = [{"label": deal(), "description": deal()} for _ in range(2)]
    question = {"question": deal(), "header": deal(), "multiSelect": True, "options": options}
    asked = {"questions": [question], "answers": {question["question"]: deal()}}
    log.call("AskUserQuestion", asked, deal(), asked)


def _agents(log: LogBuilder, deal: Deck) -> None:
    kind, about = deal(), deal()
    use = log.agent_use(kind, about, deal())
    log.assistant(use)
    log.subagent(use, kind, about, lambda child: child.ran(deal(), deal()).assistant(child.text(deal())))
    later = log.agent_use("Explore", deal(), deal())
    log.assistant(later)
    log.subagent(later, "Explore", about, lambda child: child.assistant(child.text(deal())), background=True)
    log.notify(later, deal(), deal(), deal())


def _notices(log: LogBuilder, deal: Deck) -> None:
    log.hook("SessionStart", deal(), deal()).meta(f"<system-reminder>{deal()}</system-reminder>").interrupt()
    log.attachment(deal(), filename=deal(), content=deal()).attachment(
        "edited_text_file", filename=deal(), snippet=deal()
    )
    spot = {"message": deal(), "severity": deal(), "source": deal(), "code": deal()}
    log.attachment("diagnostics", files=[{"uri": deal(), "diagnostics": [spot]}], isNew=True)
    log.system(deal(), content=deal(), level=deal()).system("api_error", error={"message": deal()}, level="error")
    log.compact(deal(), deal())


def _branch(log: LogBuilder, deal: Deck) -> None:
    log.prompt(deal())
    fork = log.last
    log.assistant(log.text(deal())).prompt(deal()).assistant(log.text(deal()))
    log.rewind(fork).assistant(log.text(deal())).prompt(deal()).assistant(log.text(deal()))


def _broken(log: LogBuilder, deal: Deck) -> None:
    log.raw(f'{{"type": "user", {deal()}\n'.encode("utf-8", "replace")).raw(
        b"</script><script>window.pwned=1</script>\n"
    )
    log.put({"type": "user", "message": {"role": deal(), "content": {deal(): deal()}}})
    log.put({"type": "assistant", "message": {"role": "assistant", "content": deal(), "model": deal(), "id": deal()}})
