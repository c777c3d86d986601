"""`unspool fork`, `repair`, `move`, `recommend` and `lint`: copies that resume, and whether a session needs one."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import copy_options, options
from unspool.cli.output import Column, print_json, print_result, print_table, say_line
from unspool.errors import NotFound, Unreadable, Unsound, UsageProblem
from unspool.store.library.inputs import is_url

if TYPE_CHECKING:
    from unspool.agents import FoundLog
    from unspool.agents.writing import LintFinding
    from unspool.copies.copy_plan import CopyPlan
    from unspool.copies.fork import Move
    from unspool.copies.original import CopySource
    from unspool.store.library import Library


@click.command("fork")
@click.argument("session")
@click.option(
    "--at",
    metavar="TURN|ID",
    help="End behind this turn, or this line or message by its id or anchor.",
)
@click.option("--without", callback=options.turn_ranges, metavar="TURNS", help="Leave whole turns out: 3,7..9.")
@click.option("--branch", type=click.IntRange(min=1), metavar="N", help="Go on from a branch that was left.")
@copy_options.copy_output_options
@options.sources
def fork_command(
    session: str,
    at: str | None,
    without: tuple[tuple[int, int], ...],
    branch: int | None,
    output: copy_options.CopyOutput,
    library: "Library",
) -> None:
    """Go on from an earlier point of a session, in a copy.

    \b
    unspool fork 3f2a --at 12              as it stood when turn 12 was answered
    unspool fork 3f2a --at 5e1d0c9a        as it stood behind that line (ids: `unspool export --format json`)
    unspool fork 3f2a --at msg-1774856863840   as it stood behind what `unspool search` found
    unspool fork 3f2a --without 3,7..9     without these turns
    unspool fork 3f2a --branch 1           along the branch that was left (`unspool info` counts them)

    Turns have the numbers that `unspool show` gives them. The original stays as it is; `unspool clone --undo` takes
    the fork back.
    """
    from unspool.copies import material
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fork import Fork
    from unspool.copies.original import open_source
    from unspool.copies.treatment import PRESETS
    from unspool.store.library.read import read_session

    with open_source(library, session) as source:
        fork = Fork(source.log, read_session(source.log.found), branch or 0)
        if at:
            fork.until(at)
        if without:
            fork.leave_out(without)
        title = output.title or material.marked_title(source.log, "fork")
        chosen = (("at", at), ("without", without), ("branch", branch))
        named: dict[str, object] = {name: value for name, value in chosen if value}
        request = CopyRequest("fork", title, fork.leaf, frozenset(fork.without), options=named)
        copy_options.finish_copy(plan_copy(fork.material, PRESETS["none"], request), source, output)


_MENDED = 40
_SHOWN = 200
"""Bytes of what was lost that are told."""


@click.command("repair")
@click.argument("session", default="latest")
@copy_options.copy_output_options
@options.sources
def repair_command(session: str, output: copy_options.CopyOutput, library: "Library") -> None:
    """Write a copy of a damaged session that can be resumed.

    \b
    unspool repair 3f2a             a mended copy beside the original
    unspool repair 3f2a -n          what would be mended, line by line
    unspool repair torn.jsonl -o mended.jsonl

    Torn lines go, lines that were glued together are parted, ids are made unique, parents that are missing or run in
    a circle are tied to what came before, empty content and reasoning that nobody signed go, a result without its
    call goes, a call without a result gets one that says so, and pictures that are too large become words. Each is
    told with its line. The original is never touched; where nothing is wrong, nothing is written.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default. `unspool lint` only tells what is wrong.
    """
    from msgspec.structs import asdict

    from unspool.copies import material
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fork import repair_original
    from unspool.copies.original import open_source
    from unspool.copies.treatment import PRESETS

    with open_source(library, session) as source:
        log, done = repair_original(source.log)
        deeds = done.deeds
        lost = [{"lost": one.lost[:_SHOWN].decode(errors="replace"), "lost_bytes": len(one.lost)} for one in deeds]
        data = {"deeds": [{**asdict(deed), **its} for deed, its in zip(deeds, lost, strict=True)]}
        if not deeds:
            print_result(data, ["Nothing is wrong with the log, and nothing was written."], as_json=output.as_json)
            return
        if not output.as_json:
            more = f"... and {len(deeds) - _MENDED:,} more; --json lists all.\n" if len(deeds) > _MENDED else ""
            lines = (f"line {deed.line:<8}{deed.rule:<20}{deed.message}" for deed in deeds[:_MENDED])
            print_result(None, [*lines, more], as_json=False)
        title = output.title or material.marked_title(log, "mended")
        request = CopyRequest("repair", title, options={"deeds": len(deeds)})
        plan = plan_copy(log, PRESETS["none"], request)
        copy_options.finish_copy(plan, source._replace(log=log), output, data=data)


@click.command("move")
@click.argument("what", metavar="SESSION|PROJECT")
@click.option("--to", required=True, metavar="DIR", type=options.PATH, help="The folder it goes on in.")
@click.option(
    "--into", metavar="DIR", type=options.FOLDER, help="The agent's folder of another user or machine; else your own."
)
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename this path too. May be given several times.")
@copy_options.copy_output_options
@options.sources
def move_command(
    what: str, to: Path, into: Path | None, rename: tuple[str, ...], output: copy_options.CopyOutput, library: "Library"
) -> None:
    """Let a session go on in another folder, of another user or on another machine.

    \b
    unspool move 3f2a --to ~/code/new-name            the project was renamed
    unspool move ~/code/old-name --to ~/code/new-name all of its sessions
    unspool move 3f2a --to /home/eve/tool --into /mnt/eve/.claude

    Paths are rewritten alike wherever they stand: the working folder, the user's own folder where that differs, the
    agent's folder, and what --rename names. Subagents, spilled results, todos and file history go along. The
    original stays where it is: what is written is a copy under a new id.
    """
    from unspool.copies.fork import Move, parse_renames

    move = Move(to, into, parse_renames(rename))
    logs = _project(library, what)
    if not logs:
        with _moved(library, what, move, output) as (plan, source):
            copy_options.finish_copy(plan, source, output, move.cwd)
        return
    if output.path is not None and not output.path.is_dir():
        raise UsageProblem(f"The sessions of a project need a folder to go to; {output.path} is none.")
    done, failed = list[copy_options.CopyTelling](), list[str]()
    for log in logs:
        try:
            with _moved(library, log, move, output) as (plan, source):
                done.append(copy_options.write_or_plan(plan, source, output, move.cwd))
        except (Unsound, Unreadable, UsageProblem) as error:
            if not done and log is logs[-1]:  # none can be moved
                raise
            failed.append(str(error))
    copy_options.show_copies(done, output, failed)


@contextmanager
def _moved(
    library: "Library", what: "str | FoundLog", move: "Move", output: copy_options.CopyOutput
) -> "Iterator[tuple[CopyPlan, CopySource]]":
    from unspool.copies.original import open_source

    with open_source(library, what) as source:
        yield move.drawn(source.log, output.title), source._replace(home=move.home(source.log), folder=None)


def _project(library: "Library", what: str) -> "list[FoundLog]":
    """The sessions of a project, by its folder or by the name of the agent's folder for it; none: it is a session."""
    path = Path(what).expanduser()
    if path.is_file() or what == "-" or is_url(what):
        return []
    from unspool.agents import AGENTS

    names = {what}
    for cwd in {os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100  the agent knows both
        names |= {one.writer.place(Path(), cwd, "x").parent.name for one in AGENTS if one.writer is not None}
    logs = [log for log in library.logs() if log.folder in names]
    if not logs and ("/" in what or "\\" in what):
        raise NotFound(f"There is no file {what}, nor is there a session of such a folder.")
    return logs


@click.command("recommend")
@click.argument("session", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def recommend_command(session: str, as_json: bool, library: "Library") -> None:
    """Tell how full a session is, and which treatment to choose.

    \b
    unspool recommend             the session you used last
    unspool recommend 4f2a --json | jq -r .recommended

    Tokens are estimated (docs/context.md), and what every request holds besides the conversation is taken from the
    last one measured; where the log keeps that request whole, its system prompt and tools are known exactly. Over
    70 % of the window the mildest treatment is named that brings it under 50 %; under 50 % nothing needs doing.
    `unspool context` tells what fills the window.
    """
    from unspool.copies.fit import advise, window_of
    from unspool.copies.material import CopyMaterial
    from unspool.copies.original import open_source

    with open_source(library, session) as source:
        given = advise(CopyMaterial(source.log), window_of(source.log))
    if as_json:
        print_json(given)
        return

    known = "" if given.window_known else " (taken for granted: the model's own is not known)"
    how = "exact: the log keeps the last request" if given.exact else "estimated"
    click.echo(f"{given.total:,} of {given.window:,} tokens{known}, {given.share:.0%} ({how})\n")
    rows = given.choices
    print_table(
        [
            Column("", ["→" if one.name == given.recommended else "" for one in rows], right=False),
            Column("treatment", [one.name for one in rows], right=False),
            Column("leaves", [f"{one.total:,}" for one in rows]),
            Column("of window", [f"{one.share:.0%}" for one in rows]),
            Column("wins", [f"{one.gain:,}" for one in rows]),
            Column("unspool clone SESSION ...", [one.flags for one in rows], right=False, rank=1),
        ]
    )
    click.echo(f"\n{given.reason}")
    flags = next((one.flags for one in rows if one.name == given.recommended), "")
    if flags:
        say_line(f"  unspool clone {quote(session)} {flags}")


_FINDINGS = 5
"""Findings of one rule that are printed; `--json` has all."""


@click.command("lint")
@click.argument("session", default="latest")
@click.option("--strict", is_flag=True, help="Hold it to what a copy made by `unspool clone` must be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every finding.")
@options.sources
def lint_command(session: str, strict: bool, as_json: bool, library: "Library") -> None:
    """Tell what keeps a session from being resumed, line by line.

    \b
    unspool lint                    the session you used last
    unspool lint 3f2a --json | jq '.findings[] | select(.severity == "error")'
    unspool lint copy.jsonl --strict

    An error keeps the session, or a part of it, from being resumed: torn lines, calls without a result, parents that
    are not there, pictures that are too large. A warning is odd and harmless. `unspool repair` writes a copy without
    the errors. Nothing is changed. The exit code is 1 where there is an error, 0 otherwise.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default.
    """
    from unspool.copies.original import open_lines

    with open_lines(library, session) as (lines, writer):
        findings = writer.lint(lines, strict=strict)
    wrong = sum(one.severity == "error" for one in findings)
    told = _lint_lines(session, findings, wrong, strict=strict)
    print_result({"sound": not wrong, "findings": findings}, told, as_json=as_json)
    if wrong:
        sys.exit(1)


def _lint_lines(session: str, findings: "list[LintFinding]", wrong: int, *, strict: bool) -> Iterator[str]:
    shown: Counter[tuple[str, str]] = Counter()
    for one in findings:
        shown[one.severity, one.rule] += 1
        if shown[one.severity, one.rule] <= _FINDINGS:
            where = f"line {one.line}" if one.line else "the log"
            yield f"{where:<12}{one.severity:<9}{one.rule:<20}{one.message}"
    for (severity, rule), count in shown.items():
        if count > _FINDINGS:
            yield f"{'':<12}{severity:<9}{rule:<20}and {count - _FINDINGS:,} more; --json lists all."
    if not wrong:
        things = human.count(len(findings), "thing")
        odd = f" {things} in it {'is' if len(findings) == 1 else 'are'} odd." if findings else ""
        yield f"Nothing keeps the session from being resumed.{odd}"
        return
    yield f"\n{human.count(wrong, 'error')}, {human.count(len(findings) - wrong, 'warning')}."
    if not strict and any(one.severity == "error" and one.rule != "no-chain" for one in findings):
        yield f"`unspool repair {session}` writes a mended copy; `-n` shows what it would do."
