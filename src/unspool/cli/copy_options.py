"""What the commands that make copies share: options, where a copy goes, and how it is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_json, print_result, say_line
from unspool.errors import Exists, UsageProblem

if TYPE_CHECKING:
    from unspool.copies.copy_plan import CopyPlan
    from unspool.copies.material import LineTally
    from unspool.copies.original import CopySource
    from unspool.copies.records import CopyRecord

_OUTPUT = "Write the log to this file, or into this folder, instead of the agent's."
_LISTED = 40
_WORTH = 0.05
"""The share of its tokens that a session must lose for a lighter copy to be worth the loss of what it held."""
_FIGURES = (
    ("lines", "lines"), ("turns", "turns"), ("tool calls", "calls"), ("thinking", "thinking"), ("images", "images"),
    ("tokens *", "tokens"), ("size", "bytes"),
)  # fmt: skip


class CopyOutput(NamedTuple):
    path: Path | None
    dry_run: bool
    as_json: bool
    dsp: bool
    title: str


class CopyTelling(NamedTuple):
    data: dict[str, Any]
    words: list[str]


copy_output_options = options.as_argument(
    "output",
    CopyOutput,
    click.option("-o", "--output", "path", metavar="PATH", type=options.PATH, help=_OUTPUT),
    click.option("-n", "--dry-run", is_flag=True, help="Tell what would be made, line by line; write nothing."),
    click.option("--title", default="", metavar="TEXT", help="What the copy is called."),
    click.option("--json", "as_json", is_flag=True, help="Tell as JSON."),
    click.option("--dsp", is_flag=True, help="Print a resume command that skips permission prompts."),
)


def finish_copy(
    plan: "CopyPlan", source: "CopySource", output: CopyOutput, cwd: str = "", data: dict[str, Any] | None = None
) -> None:
    """Write the copy, or only plan it, and tell of it; `data` is what else JSON tells."""
    telling = write_or_plan(plan, source, output, cwd)
    print_result({**telling.data, **(data or {})}, telling.words, as_json=output.as_json)


def write_or_plan(plan: "CopyPlan", source: "CopySource", output: CopyOutput, cwd: str = "") -> CopyTelling:
    """Write the copy, or only plan it: what is to be told of it."""
    from unspool.copies.write import write_copy

    folder = cwd or source.log.facts.cwd
    path, home = _place(plan, source, output, folder)
    if home is None:
        plan.copy.leave_history()
    record = write_copy(plan, path, home, folder, dry_run=output.dry_run)
    return _planned(plan, record) if output.dry_run else _written(record, source, output)


def finish_in_place(plan: "CopyPlan", source: "CopySource", output: CopyOutput) -> None:
    """Put the plan in the place of the session's own log, or only tell what that would do."""
    from msgspec import to_builtins

    from unspool.copies.in_place import edit_in_place

    edit = edit_in_place(plan, source, dry_run=output.dry_run)
    resuming = source.log.agent.resuming
    resume = resuming.resume(edit.session, source.log.facts.cwd, unasked=output.dsp) if resuming is not None else ""
    after = [f"\nNothing was written. It would change {edit.path}"] if output.dry_run else [
        f"\nChanged {edit.path}",
        f"As it was:  {edit.backup}",
        *([f"Resume it:  {resume}"] if resume else []),
        f"Undo:       unspool clone --undo {edit.session[:8]}",
    ]  # fmt: skip
    words = [*_figures(source.log.session, plan.before, plan.after), *after]
    counts = {"before": to_builtins(plan.before), "after": to_builtins(plan.after), "dry_run": output.dry_run}
    print_result({**to_builtins(edit), **counts, "resume": resume}, words, as_json=output.as_json)


def show_copies(tellings: list[CopyTelling], output: CopyOutput, failed: list[str]) -> None:
    """Tell of several copies, and of sessions that none could be made of."""
    if output.as_json:
        print_json({"sessions": [one.data for one in tellings], "failed": failed})
        return
    for one in tellings:
        say_line("\n".join([*one.words, ""]))
    for why in failed:
        say_line(f"Left out: {why}", err=True)


def _place(plan: "CopyPlan", source: "CopySource", output: CopyOutput, cwd: str) -> tuple[Path, Path | None]:
    """The path of the copy, and the agent's folder where what goes along with it goes; None: nowhere."""
    from unspool.copies.original import copy_target

    session = plan.copy.making.session
    if output.path is None:
        return copy_target(source, session, cwd), source.home
    if output.path.is_dir() or str(output.path).endswith("/"):
        return output.path / f"{session}.jsonl", None
    if output.path.exists():
        raise Exists(f"{output.path} is there already; nothing was written.")
    return output.path, None


def _written(record: "CopyRecord", source: "CopySource", output: CopyOutput) -> CopyTelling:
    from msgspec import to_builtins

    name = record.session if output.path is None else str(Path(record.files[0].path).absolute())
    resuming = source.log.agent.resuming
    resume = resuming.resume(name, record.cwd, unasked=output.dsp) if resuming is not None else ""
    more = f" and {len(record.files) - 1} files that go with it" if len(record.files) > 1 else ""
    words = [
        *_figures(record.title, record.before, record.after),
        f"\nWrote {record.files[0].path}{more}",
        *([f"Resume it:  {resume}"] if resume else []),
        f"Undo:       unspool clone --undo {record.session[:8]}",
    ]
    return CopyTelling({**to_builtins(record), "resume": resume}, words)


def _planned(plan: "CopyPlan", record: "CopyRecord") -> CopyTelling:
    from unspool.copies.write import line_changes

    listed, path = sorted(line_changes(plan), key=lambda one: one.line), record.files[0].path
    before, after = record.before.tokens, record.after.tokens
    worth = record.command != "clone" or before - after >= _WORTH * before
    whose = {"session": record.session, "source": record.source, "path": path, "title": record.title}
    counts = {"before": record.before, "after": record.after, "worth_it": worth}
    data = {**whose, **counts, "changes": [one._asdict() for one in listed]}
    words = [*_figures(record.title, record.before, record.after), *([""] if listed else [])]
    for one in listed[:_LISTED]:
        what = f"{one.tool} {one.what}" if one.tool else one.what
        what += f" of {one.lines} lines" if one.lines > 1 else ""
        tokens = f"{one.before:,} -> {one.after:,} tokens"
        words.append(f"  line {one.line:<6} turn {one.turn:<4} {what}: {one.deed}, {tokens}")
    if len(listed) > _LISTED:
        words.append(f"  ... and {len(listed) - _LISTED:,} more; --json lists all.")
    if not worth:
        instead = "`unspool recommend SESSION` tells what other treatments win"
        words.append(f"\nNot worth it: this would win {before - after:,} of {before:,} tokens; {instead}.")
    return CopyTelling(data, [*words, f"\nNothing was written. It would be {path}"])


def _figures(title: str, before: "LineTally", after: "LineTally") -> Iterator[str]:
    yield title
    yield f"  {'':12}{'before':>12}{'after':>12}"
    for name, field in _FIGURES:
        old, new = getattr(before, field), getattr(after, field)
        written = human.size if field == "bytes" else "{:,}".format
        change = f"{(new - old) / old:+9.0%}" if old and new != old else ""
        yield f"  {name:12}{written(old):>12}{written(new):>12}{change}"
    yield "  * of what the agent loads, estimated by kinds of characters (docs/context.md)"


def parse_percent(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    text = value.strip().removesuffix("%")
    if not text.isdecimal() or len(text) > len("100") or int(text) > 100:
        raise UsageProblem(f"“{value}” is no percentage; 70% is one.")
    return int(text)
