"""`unspool info` and `show`: what one session holds, and the session read in the terminal."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from unspool import human
from unspool.agents import FoundLog, agent_name
from unspool.cli import options, settings
from unspool.cli.options import check_view, view_options
from unspool.cli.output import console, print_json, print_nodes, show_renderable
from unspool.errors import NotFound, UsageProblem
from unspool.figures import all_turns
from unspool.model import Block, Prompt, Result, Session, ToolCall, Turn, Unknown, Usage
from unspool.render.sanitize import one_line
from unspool.render.transcript import RELATIONS, transcript_nodes
from unspool.render.view import View
from unspool.store.library import Library
from unspool.tools.summary import first_line

if TYPE_CHECKING:
    from unspool.cli.list_cmd import SessionMark
    from unspool.figures import Figures

_ANCHOR = re.compile(r"msg-(\d{1,15})(?:-\d+)?")


def parse_anchor(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """The milliseconds that an anchor such as msg-1774856863840 names."""
    if value is None:
        return None
    found = _ANCHOR.fullmatch(value.strip().lstrip("#"))
    if found is None:
        raise click.BadParameter(f"{value!r} is no anchor, such as msg-1774856863840.")
    return int(found[1])


class ShownPlace(NamedTuple):
    """What of a session is asked for: what was logged at a moment, or by a line of its log."""

    at: int | None
    line: int | None


def view_at(session: Session, view: View, place: ShownPlace) -> View:
    """The view of the turn that holds a place, a subagent's conversation shown where it is there.

    Where no block stands there, the last turn that had begun is shown: copies of a line are told once.
    """
    if place.at is None and place.line is None:
        return view
    if place.at is not None and place.line is not None:
        raise UsageProblem("Either --at or --line.")

    marks: Marks = _moments if place.at is not None else _lines
    wanted = place.at if place.at is not None else place.line or 0
    found = _place(session, marks, wanted)
    called = _calling(session, marks, wanted) if found is None else None
    branch, number = found or called or (0, _begun(session, place))
    agents = view.agents or called is not None
    return msgspec.structs.replace(view, turns=((number, number),), branch=branch, agents=agents)


Marks = Callable[[Turn], Iterable[int]]
"""The moments, or the lines, that a turn is made of."""


def _turns(session: Session) -> Iterator[tuple[int, Turn]]:
    """Every turn, with the number of its branch."""
    yield from ((0, turn) for turn in session.turns)
    yield from ((branch.number, turn) for branch in session.branches for turn in branch.turns)


def _place(session: Session, marks: Marks, wanted: int) -> tuple[int, int] | None:
    """Branch and turn of what has a mark."""
    return next(((branch, turn.number) for branch, turn in _turns(session) if wanted in marks(turn)), None)


def _parts(turn: Turn) -> "Iterator[Prompt | Block | Result]":
    if turn.prompt is not None:
        yield turn.prompt
    for block in turn.blocks:
        yield block
        if isinstance(block, ToolCall):
            yield from (result for result in (*block.earlier, block.result) if result is not None)


def _moments(turn: Turn) -> Iterator[int]:
    return (_milliseconds(part.time) for part in _parts(turn) if part.time is not None)


def _lines(turn: Turn) -> Iterator[int]:
    return (part.place.line for part in _parts(turn))


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _calling(session: Session, marks: Marks, wanted: int) -> tuple[int, int] | None:
    """Branch and turn that called the subagent in whose conversation the mark is; lines of other logs are none."""
    for agent in session.agents:
        elsewhere = marks is _lines and agent.session.log.path != session.log.path
        if elsewhere or (_place(agent.session, marks, wanted) or _calling(agent.session, marks, wanted)) is None:
            continue
        for branch, turn in _turns(session):
            calls = (block for block in turn.blocks if isinstance(block, ToolCall))
            if any(call.call_id == agent.call_id or agent.id in call.agents for call in calls):
                return branch, turn.number
    return None


def _begun(session: Session, place: ShownPlace) -> int:
    """The last turn that had begun at a place."""
    if place.line is not None:
        firsts = ((turn.number, min(_lines(turn), default=0)) for turn in session.turns)
        begun = [number for number, first in firsts if 0 < first <= place.line <= session.lines.total]
    else:
        times = ((turn.number, turn.started) for turn in session.turns)
        begun = [number for number, time in times if time is not None and _milliseconds(time) <= (place.at or 0)]
    if not begun:
        what = f"at msg-{place.at}" if place.line is None else f"in line {place.line}"
        raise NotFound(f"Session {session.id} has nothing {what}.")
    return max(begun)


_AT = click.option("--at", callback=parse_anchor, metavar="ANCHOR", help="Only the turn that holds msg-1774856863840.")
_LINE = click.option(
    "--line", type=click.IntRange(min=1), metavar="N", help="Only the turn that holds line N of the log."
)


@click.command("show")
@click.argument("session", default="latest")
@view_options(whole=False)
@options.as_argument("place", ShownPlace, _AT, _LINE)
@click.option("--pager/--no-pager", default=True, help="Page on a terminal, or print straight.", show_default=True)
@click.option("--width", type=click.IntRange(min=20), help="Columns to wrap at.")
@options.sources
def show_command(session: str, view: View, place: ShownPlace, pager: bool, width: int | None, library: Library) -> None:
    """Read a session in the terminal.

    \b
    unspool show                       the latest session
    unspool show 3f2a --turn 3..7      some turns of the session whose id begins with 3f2a
    unspool show tide --no-tools       only what was said, in the session with "tide" in its title
    unspool show 3f2a --line 812       the turn that a line of its log is of; agent-ID for a subagent's log
    curl -s URL | unspool show -       a log from standard input

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`.
    """
    found = library.open(session)
    view = view_at(found, msgspec.structs.replace(view, prices=library.prices), place)
    check_view(found, view)
    print_nodes(transcript_nodes(found, view), pager=pager, width=width)


_LISTED = 8
_FIELDS = (
    "id", "agent", "kind", "project", "cwd", "branch", "slug", "versions", "entrypoint", "team",
    "started", "ended", "log", "titles", "lines", "links", "history", "todos", "source",
    "reported_cost", "reported_credits",
)  # fmt: skip
"""What JSON tells of the session itself."""


def _identity(session: Session) -> Iterator[tuple[str, str]]:
    zone = settings.chosen_zone()
    yield "id", session.id
    yield "kind", session.kind
    yield "project", session.project
    yield "git branch", session.branch
    yield "when", human.joined(human.moment(session.started, zone), human.elapsed(session.started, session.ended))
    yield "agent", human.joined(agent_name(session.agent), ", ".join(session.versions))
    yield "slug", session.slug
    for link in session.links:
        words = link.title or link.prompt
        yield RELATIONS[link.relation].lower(), f"{link.session[:8]} · {words} (by {link.by})"
        if link.relation == "source" and link.prompt and link.prompt != words:
            yield "first asked", link.prompt


def _conversation(counted: "Figures") -> Iterator[tuple[str, str]]:
    kinds = ", ".join(f"{number} {kind}" for kind, number in counted.prompts.items())
    left = f"; {counted.abandoned_turns} on abandoned branches" if counted.abandoned_turns else ""
    yield "turns", f"{counted.turns} ({kinds}{left})" if kinds else "0"
    yield "messages", f"{counted.messages} ({human.count(counted.texts, 'text')}, {counted.thinking} thinking)"
    tools = ", ".join(f"{name} {number}" for name, number in list(counted.tools.items())[:_LISTED])
    from unspool.figures import tell_ends

    ends = tell_ends(counted.ends)
    yield "tool calls", human.joined(str(counted.tool_calls), ends, tools) if counted.tool_calls else ""
    calls = human.count(counted.agent_tool_calls, "tool call")
    yield "subagents", f"{counted.agents} with {calls}" if counted.agents else ""
    yield "branches", f"{counted.branches} left behind" if counted.branches else ""
    yield "compactions", str(counted.compactions or "")
    yield "images", str(counted.images or "")
    yield "questions", str(counted.questions or "")


def _work(counted: "Figures") -> Iterator[tuple[str, str]]:
    plans = []
    for plan in counted.plans:
        by = f" by {plan.settled_by[:8]}" if plan.settled_by else ""
        feedback = f": {first_line(plan.feedback)}" if plan.feedback else ""
        plans.append(f"{plan.status}{by} · {plan.title}{feedback}")
    yield "plans", "\n".join(plans)
    changed = [change for change in counted.files if change.writes]
    added, removed = sum(c.added for c in changed), sum(c.removed for c in changed)
    read = sum(1 for change in counted.files if change.reads)
    yield "files", f"{len(changed)} changed (+{added:,} −{removed:,}), {read} read" if counted.files else ""
    commits = [f"{commit.hash[:10]} {commit.message}" for commit in counted.commits]
    more = [f"… and {len(commits) - _LISTED} more"] if len(commits) > _LISTED else []
    yield "commits", "\n".join([*commits[:_LISTED], *more])
    pushes = counted.pushes[:_LISTED]
    yield "pushed", "\n".join(one.url if one.kind == "pull-request" else f"{one.branch} → {one.url}" for one in pushes)
    yield "repository", counted.repository


def _use(session: Session, counted: "Figures") -> Iterator[tuple[str, str]]:
    from unspool.figures import reported_cost

    yield "tokens", _usage(counted.usage)
    yield "… subagents", _usage(counted.agents_usage) if counted.agents_usage.total else ""
    for call in counted.models:
        model = " ".join(filter(None, (call.model or "unknown model", call.speed, call.tier, call.geo)))
        yield "model", f"{model} · {_usage(call.usage)}"
    names = ", ".join(name for name, _ in counted.cost.unpriced)
    unknown = f" (no known price: {names})" if names else ""
    if counted.models or counted.cost.amount:
        yield "cost", human.money(counted.cost.amount, floor=counted.cost.floor, unpriced=bool(names)) + unknown
    if session.elsewhere:
        apart = human.money(counted.elsewhere.amount, floor=not counted.elsewhere.known)
        yield "… other versions", f"{apart} of it for requests that only they hold"
    if session.history is not None:
        copied = session.history
        more = f"{human.money(copied.cost, floor=copied.usage.floor)} and {human.tokens(copied.usage.total)} tokens"
        turns = human.count(copied.turns, "turn")
        yield "… copied history", f"{turns} copied from {copied.session[:8]}, where {more} were paid; not counted here"
    yield "agent's own figure", reported_cost(session)
    yield "context", f"{human.tokens(counted.context)} tokens at the last request" if counted.context else ""


def _usage(usage: Usage) -> str:
    thought = f" ({human.tokens(usage.reasoning)} of it thinking)" if usage.reasoning else ""
    out = f"{'≥' if usage.floor else ''}{human.tokens(usage.output)} out{thought}"
    return (
        f"{human.tokens(usage.input)} in, {out}, {human.tokens(usage.cache_read)} read from cache, "
        f"{human.tokens(usage.cache_write)} written to it"
    )


def _log(session: Session, companions: list[str]) -> Iterator[tuple[str, str]]:
    lines = session.lines
    parts = [f"{lines.conversation:,} conversation", f"{lines.side:,} beside it"]
    parts += [f"{number:,} {name}" for name in ("repeated", "superseded", "blank") if (number := getattr(lines, name))]
    yield "log", f"{session.log.path} ({human.size(session.log.size)})"
    yield "lines", f"{lines.total:,}: {', '.join(parts)}, {lines.problems} unreadable"
    unknown = Counter(block.what for turn in all_turns(session) for block in turn.blocks if isinstance(block, Unknown))
    said = (f"{name} ({human.count(number, 'time')})" for name, number in unknown.most_common(_LISTED))
    yield "not known yet", ", ".join(said) + ("; `unspool doctor` says more" if unknown else "")
    for problem in session.problems[:_LISTED]:
        yield "mended" if problem.mended else "problem", f"line {problem.place.line}: {problem.why}"
    yield "companions", _few(companions)


@click.command("info")
@click.argument("session", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def info_command(session: str, as_json: bool, library: Library) -> None:
    """Tell what one session holds, used and cost.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`, which is the default.
    """
    from unspool.cli.list_cmd import session_marks
    from unspool.figures import figures

    log = library.resolve(session)
    found = library.open(log)
    versions = library.versions(log) if isinstance(log, FoundLog) else ()
    counted, companions = figures(found, library.prices), library.companions(found)
    mark = session_marks()(found.id)
    under = library.kept.ran_under(found.id) if library.kept is not None else []
    if as_json:
        session_data = {"title": found.title, **{name: getattr(found, name) for name in _FIELDS}}
        files = [{"path": one.path, "size": one.size, "kept": bool(one.origin)} for one in versions]
        own = {
            "mark": mark._asdict() if any(mark) else None, "figures": counted, "companions": companions,
            "versions": files,
            "context_files": [
                {"kind": one.file.kind, "path": one.file.place, "version": one.version and one.version.number,
                 "how": one.how}
                for one in under
            ],
        }  # fmt: skip
        print_json({"session": session_data, **own})
        return
    others = [f"{companion.kind} {Path(companion.path).name}" for companion in companions]
    names = [_short_path(one.file.place, found.cwd) for one in under if one.version is not None]
    beside = (
        ("ran under", _few(names) + (f"; see `unspool context-files {found.id[:8]}`" if names else "")),
        ("other versions", "\n".join(f"{one.path} ({human.size(one.size)})" for one in versions)),
    )
    _print_info(found, counted, others, beside, mark)


def _short_path(path: str, folder: str) -> str:
    """A path as it is called in a folder, or from one's home."""
    if folder and path.startswith(f"{folder}/"):
        return path.removeprefix(f"{folder}/")
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _few(names: list[str]) -> str:
    return ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")


def _print_info(
    session: Session,
    counted: "Figures",
    companions: list[str],
    beside: tuple[tuple[str, str], ...],
    mark: "SessionMark",
) -> None:
    from rich.table import Table
    from rich.text import Text

    to = console()
    to.print(Text(one_line(mark.title or session.title), "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    marks = (("own title", session.title if mark.title else ""), ("marked", mark.short), ("note", mark.note))
    facts = (*_identity(session), *_conversation(counted), *_work(counted), *_use(session, counted))
    for name, value in (*marks, *facts, *_log(session, companions), *beside):
        if value:
            table.add_row(name, "\n".join(one_line(line) for line in value.split("\n")))
    show_renderable(table, to)
