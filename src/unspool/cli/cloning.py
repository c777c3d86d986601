"""What the commands that make copies share: options, where a copy goes, and how it is told."""

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import keeping, options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from unspool.clone.draught import Draught
    from unspool.clone.lineage import Record
    from unspool.clone.source import Source
    from unspool.clone.tally import Tally

_LISTED = 40


class Output(NamedTuple):
    """Where a copy goes and how it is told."""

    path: Path | None
    dry_run: bool
    as_json: bool
    dsp: bool
    title: str


def outputs(command: options.Command) -> options.Command:
    """The options that make an `output`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        output = Output(
            given.pop("output_path"),
            given.pop("dry_run"),
            given.pop("as_json"),
            given.pop("dsp"),
            given.pop("title") or "",
        )
        return command(*args, output=output, **given)

    made: options.Command = run
    for option in (
        click.option("--dsp", is_flag=True, help="Print a resume command that skips permission prompts."),
        click.option("--json", "as_json", is_flag=True, help="Tell as JSON."),
        click.option("--title", metavar="TEXT", help="What the copy is called."),
        click.option("-n", "--dry-run", is_flag=True, help="Tell what would be made, line by line; write nothing."),
        click.option(
            "-o",
            "--output",
            "output_path",
            metavar="PATH",
            type=click.Path(path_type=Path),
            help="Write the log to this file, or into this folder, instead of the agent's.",
        ),
    ):
        made = option(made)
    return made


def finish(
    draught: "Draught", source: "Source", output: Output, cwd: str = "", told: dict[str, Any] | None = None
) -> None:
    """Write the copy, or only tell of it; `told` is what else JSON tells."""
    from unspool.clone.draught import counted
    from unspool.clone.make import written

    folder = cwd or source.log.facts.cwd
    path, home = _place(draught, source, output, folder)
    if output.dry_run:
        _tell_plan(draught, counted(draught), path, output, told or {})
        return
    record = written(draught, path, home, folder)
    _tell(record, source, output, told or {})


def _place(draught: "Draught", source: "Source", output: Output, cwd: str) -> tuple[Path, Path | None]:
    """The path of the copy, and the agent's folder where what goes along with it goes; None: nowhere."""
    from unspool.clone.source import target

    session = draught.copy.making.session
    if output.path is None:
        return target(source, session, cwd), source.home
    if output.path.is_dir() or str(output.path).endswith("/"):
        return output.path / f"{session}.jsonl", None
    if output.path.exists():
        from unspool.errors import Exists

        raise Exists(f"{output.path} is there already; nothing was written.")
    return output.path, None


def _tell(record: "Record", source: "Source", output: Output, told: dict[str, Any]) -> None:
    format_ = source.log.format
    name = record.session if output.path is None else record.files[0].path
    resume = format_.resume(name, record.cwd, unasked=output.dsp)
    if output.as_json:
        from msgspec import to_builtins

        keeping.print_json({**to_builtins(record), "resume": resume, **told})
        return
    _say_figures(record.title, record.before, record.after)
    more = f" and {len(record.files) - 1} files that go with it" if len(record.files) > 1 else ""
    keeping.say(f"\nWrote {record.files[0].path}{more}")
    keeping.say(f"Resume it:  {resume}")
    keeping.say(f"Undo:       unspool clone --undo {record.session[:8]}")


def _tell_plan(draught: "Draught", after: "Tally", path: Path, output: Output, told: dict[str, Any]) -> None:
    from unspool.clone.changes import changes

    listed = list(changes(draught))
    if output.as_json:
        keeping.print_json(
            {
                "session": draught.copy.making.session,
                "source": draught.copy.identity.source,
                "path": str(path),
                "title": draught.copy.making.title,
                "before": draught.before,
                "after": after,
                "changes": [one._asdict() for one in listed],
                **told,
            }
        )
        return
    _say_figures(draught.copy.making.title, draught.before, after)
    if listed:
        keeping.say("")
    for one in listed[:_LISTED]:
        what = f"{one.tool} {one.what}" if one.tool else one.what
        keeping.say(
            f"  line {one.line:<6} turn {one.turn:<4} {what}: {one.deed}, {one.before:,} -> {one.after:,} tokens"
        )
    if len(listed) > _LISTED:
        keeping.say(f"  ... and {len(listed) - _LISTED:,} more; --json lists all.")
    keeping.say(f"\nNothing was written. It would be {path}")


def _say_figures(title: str, before: "Tally", after: "Tally") -> None:
    from unspool import human

    keeping.say(title)
    rows: list[tuple[str, int, int, Callable[[int], str]]] = [
        ("lines", before.lines, after.lines, "{:,}".format),
        ("turns", before.turns, after.turns, "{:,}".format),
        ("tool calls", before.calls, after.calls, "{:,}".format),
        ("thinking", before.thinking, after.thinking, "{:,}".format),
        ("images", before.images, after.images, "{:,}".format),
        ("tokens *", before.tokens, after.tokens, "{:,}".format),
        ("size", before.bytes, after.bytes, human.size),
    ]
    keeping.say(f"  {'':12}{'before':>12}{'after':>12}")
    for name, old, new, shown in rows:
        change = f"{(new - old) / old:+9.0%}" if old and new != old else ""
        keeping.say(f"  {name:12}{shown(old):>12}{shown(new):>12}{change}")
    keeping.say("  * of what the agent loads, estimated by kinds of characters (docs/context.md)")


def percent(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """70% or 70."""
    if value is None:
        return None
    text = value.strip().removesuffix("%")
    if not text.isdigit() or not 0 <= int(text) <= 100:
        raise UsageProblem(f"“{value}” is no percentage; 70% is one.")
    return int(text)
