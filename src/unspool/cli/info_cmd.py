"""`unspool info`: what one session holds, used and cost."""

from collections.abc import Iterator
from pathlib import Path

import click

from unspool import human
from unspool.cli import options, settings
from unspool.cli.list_cmd import session_marks
from unspool.cli.output import console, print_json, show_renderable
from unspool.figures import Figures, figures
from unspool.model import Session, Usage
from unspool.render.sanitize import one_line
from unspool.store.library import Library
from unspool.tools.summary import first_line

_LISTED = 8
_FIELDS = (
    "id", "agent", "kind", "project", "cwd", "branch", "slug", "versions", "entrypoint", "team",
    "started", "ended", "log", "titles", "lines", "links", "todos", "source", "reported_cost",
)  # fmt: skip
"""What JSON tells of the session itself."""


def fact_rows(session: Session, counted: Figures, companions: list[str]) -> Iterator[tuple[str, str]]:
    """Name and value of everything that may be worth a line."""
    yield from _identity(session)
    yield from _conversation(counted)
    yield from _work(counted)
    yield from _use(session, counted)
    yield from _log(session, companions)


def _identity(session: Session) -> Iterator[tuple[str, str]]:
    zone = settings.chosen_zone()
    yield "id", session.id
    yield "kind", session.kind
    yield "project", session.project
    yield "git branch", session.branch
    yield "when", human.joined(human.moment(session.started, zone), human.elapsed(session.started, session.ended))
    yield "version", ", ".join(session.versions)
    yield "slug", session.slug
    for link in session.links:
        words = link.title or link.prompt
        yield link.relation, f"{link.session[:8]} · {words} (by {link.by})"
        if link.relation == "source" and link.prompt and link.prompt != words:
            yield "first asked", link.prompt


def _conversation(counted: Figures) -> Iterator[tuple[str, str]]:
    kinds = ", ".join(f"{number} {kind}" for kind, number in counted.prompts.items())
    left = f"; {counted.abandoned_turns} on abandoned branches" if counted.abandoned_turns else ""
    yield "turns", f"{counted.turns} ({kinds}{left})" if kinds else "0"
    yield "messages", f"{counted.messages} ({human.count(counted.texts, 'text')}, {counted.thinking} thinking)"
    tools = ", ".join(f"{name} {number}" for name, number in list(counted.tools.items())[:_LISTED])
    failed = f", {counted.tool_errors} failed or refused" if counted.tool_errors else ""
    yield "tool calls", f"{counted.tool_calls}{failed} · {tools}" if counted.tool_calls else ""
    yield (
        "subagents",
        f"{counted.agents} with {human.count(counted.agent_tool_calls, 'tool call')}" if counted.agents else "",
    )
    yield "branches", f"{counted.branches} left behind" if counted.branches else ""
    yield "compactions", str(counted.compactions or "")
    yield "images", str(counted.images or "")
    yield "questions", str(counted.questions or "")


def _work(counted: Figures) -> Iterator[tuple[str, str]]:
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
    pushes = (
        one.url if one.kind == "pull-request" else f"{one.branch} → {one.url}" for one in counted.pushes[:_LISTED]
    )
    yield "pushed", "\n".join(pushes)
    yield "repository", counted.repository


def _use(session: Session, counted: Figures) -> Iterator[tuple[str, str]]:
    yield "tokens", _usage(counted.usage)
    yield "… subagents", _usage(counted.agents_usage) if counted.agents_usage.total else ""
    for call in counted.models:
        model = " ".join(filter(None, (call.model or "unknown model", call.speed, call.tier, call.geo)))
        yield "model", f"{model} · {_usage(call.usage)}"
    floor = counted.cost.floor or bool(counted.cost.unpriced)
    names = ", ".join(name for name, _ in counted.cost.unpriced)
    unknown = f" (no known price: {names})" if names else ""
    yield "cost", human.money(counted.cost.amount, floor=floor) + unknown
    yield "agent's own figure", human.money(float(session.reported_cost)) if session.reported_cost else ""
    yield "context", f"{human.tokens(counted.context)} tokens at the last request" if counted.context else ""


def _usage(usage: Usage) -> str:
    out = f"{'≥' if usage.floor else ''}{human.tokens(usage.output)} out"
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
    for problem in session.problems[:_LISTED]:
        yield "mended" if problem.mended else "problem", f"line {problem.place.line}: {problem.why}"
    yield "companions", ", ".join(companions[:_LISTED]) + (" …" if len(companions) > _LISTED else "")


@click.command("info")
@click.argument("session", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(session: str, as_json: bool, library: Library) -> None:
    """Tell what one session holds, used and cost.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`, which is the default.
    """
    found = library.open(session)
    counted = figures(found, library.prices)
    companions = library.companions(found)
    if as_json:
        mark = session_marks()(found.id)
        session_data = {"title": found.title, **{name: getattr(found, name) for name in _FIELDS}}
        own = {"mark": mark._asdict() if any(mark) else None, "figures": counted, "companions": companions}
        print_json({"session": session_data, **own})
        return
    _print(found, counted, [f"{companion.kind} {Path(companion.path).name}" for companion in companions])


def _print(session: Session, counted: Figures, companions: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    to = console()
    mark = session_marks()(session.id)
    to.print(Text(one_line(mark.title or session.title), "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    marks = (("own title", session.title if mark.title else ""), ("marked", mark.short), ("note", mark.note))
    for name, value in (*marks, *fact_rows(session, counted, companions)):
        if value:
            table.add_row(name, "\n".join(one_line(line) for line in value.split("\n")))
    show_renderable(table, to)
