"""`unspool context-files`: what sessions ran under, as it stood then, in every version that is kept."""

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from unspool import human
from unspool.agents.context_files import CONTEXT_KINDS
from unspool.cli import fresh, options, output, settings
from unspool.cli.output import Column, cut_text, print_json, print_nodes, print_table, safe_text
from unspool.errors import NotFound, UsageProblem
from unspool.store.index.times import utc_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unspool.store.archive import ArchiveDatabase
    from unspool.store.index.context_files import (
        ContextFileIndex,
        ContextVersion,
        KnownContextFile,
        RanUnder,
    )

_SHOWN = 5
"""Sessions of a version that are listed; `--json` has all."""


class ListedContextFile(msgspec.Struct, frozen=True):
    """A context file as it stands, as it is printed."""

    kind: str
    path: str
    project: str
    agents: tuple[str, ...]
    versions: int
    changed: datetime | None
    gone: datetime | None
    sessions: int
    """Those that are known to have run under it."""


class ListedRun(msgspec.Struct, frozen=True):
    """A session that ran under a version, or may have."""

    session: str
    title: str
    agent: str
    project: str
    started: datetime | None
    how: str
    """`logged`, `by time`, or `not known`."""
    changed: bool
    """Whether the file changed while it ran."""


class ListedVersion(msgspec.Struct, frozen=True):
    """A version of a context file, as it is printed."""

    number: int
    since: datetime | None
    until: datetime | None
    kept: datetime | None
    size: int
    sessions: tuple[ListedRun, ...]
    diff: Any = None


@click.command("context-files")
@click.argument("name", metavar="[PATH|SESSION]", default="")
@click.option("--diff", is_flag=True, help="Of a file: show what changed from version to version.")
@click.option("-k", "--kind", multiple=True, type=click.Choice(CONTEXT_KINDS), help="Only files of this kind.")
@click.option("-p", "--project", multiple=True, metavar="TEXT", help="Only of projects whose path holds TEXT.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=30, show_default=True, help="So many; 0: all.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.named_sources
@options.demo
@fresh.no_sync
@options.archive
def command(name: str, archive: Path, as_json: bool, **given: Any) -> None:
    """Tell what sessions ran under: instructions, settings, skills, plans, memories.

    \b
    unspool context-files                    all that are kept, the last changed first
    unspool context-files -k skill -p shop   skills of a project
    unspool context-files CLAUDE.md          one file: its versions, and the sessions that ran under each
    unspool context-files CLAUDE.md --diff   with what changed
    unspool context-files 1c0ffee0           what a session ran under, as it stood then

    PATH is relative to this folder, whole, or the end of a path; SESSION an id, a piece of a title, or `latest`.
    `logged` means that the session's log shows that the file was loaded; `by time`, that the file was so when the
    session began, in a folder that it worked in; `not known`, that it was kept only later. What is new is kept first,
    in your usual archive (--no-sync, or the setting `sync`, leaves that out). The words in them are found by
    `unspool search kind:instructions ...`. Ends with 1 where nothing is kept.
    """
    from unspool.store.index.context_files import ContextFileIndex

    sources = (options.demo_folder(),) if given["demo"] else given["source"]
    with fresh.archive_of(sources) if sources else nullcontext(archive) as place:
        if not sources:
            fresh.keep_fresh(place, no_sync=given["no_sync"])
        with options.open_index(place) as index, options.open_archive(place, readonly=True) as kept:
            known = ContextFileIndex(index.db, kept.origins())
            if not name:
                _list(known, known.files(given["kind"], given["project"], given["limit"]), as_json=as_json)
                return
            file = _file(known, name)
            if file is None:
                library = options.kept_library(place, sources)
                _tell_session(known, library.key_of(library.find(name)), given, as_json=as_json)
            else:
                _tell_file(known, kept, file, given, as_json=as_json)


def _file(known: "ContextFileIndex", name: str) -> "KnownContextFile | None":
    """The file that a name means; None where it can only mean a session."""
    typed = str(Path(name).expanduser()) if name.startswith("~") else name
    try:
        return known.find(typed, str(Path.cwd()))
    except NotFound:
        if "/" in name or "." in name:
            raise
        return None


def _list(known: "ContextFileIndex", found: "Sequence[KnownContextFile]", *, as_json: bool) -> None:
    listed = [_listed(known, one) for one in found]
    if as_json:
        print_json({"context_files": listed})
    elif listed:
        zone = settings.chosen_zone()
        print_table(
            [
                Column("kind", [one.kind for one in listed], right=False),
                Column("path", [safe_text(one.path) for one in listed], right=False, least=24, tail=True),
                Column("project", [human.last_part(one.project) for one in listed], right=False, least=6, rank=3),
                Column("versions", [f"{one.versions:,}" for one in listed], rank=2),
                Column("changed", [_changed(one, zone) for one in listed], right=False, rank=1),
                Column("sessions", [f"{one.sessions:,}" for one in listed]),
            ]
        )
    else:
        click.echo("No context file is kept yet; `unspool sync` keeps them.", err=True)
    if not listed:
        raise click.exceptions.Exit(1)


def _listed(known: "ContextFileIndex", file: "KnownContextFile") -> ListedContextFile:
    sessions = sum(one.version is not None for one in known.of_file(file))
    times = utc_time(file.time), utc_time(file.until)
    return ListedContextFile(file.kind, file.place, file.project, file.agents, file.versions, *times, sessions)


def _changed(one: ListedContextFile, zone: Any) -> str:
    return f"gone {human.minute(one.gone, zone)}" if one.gone is not None else human.minute(one.changed, zone)


def _tell_file(
    known: "ContextFileIndex",
    archive: "ArchiveDatabase",
    file: "KnownContextFile",
    given: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from unspool.store.index.context_files import by_version

    versions, runs = known.versions(file.id), dict(by_version(known.of_file(file)))
    told = []
    for before, one in zip([None, *versions], versions, strict=False):
        diff = one.diff(archive, file.place, before) if given["diff"] else None
        told.append(_version(one, runs.get(one, []), diff))
    newest = told[::-1][: given["limit"] or None]
    unknown = [_run(one) for one in runs.get(None, [])]
    if as_json:
        print_json({**_about(known, file), "versions": newest, "not_known": unknown})
        return
    colour = output.has_colours()
    about = human.joined(file.kind, human.count(len(versions), "version"), *_agent_names(file.agents))
    click.echo(f"{click.style(safe_text(file.place), bold=True)}  {click.style(about, dim=True)}", color=colour)
    for version in newest:
        for line in _version_lines(version):
            click.echo(line, color=colour)
        if version.diff is not None:
            print_nodes([version.diff], pager=False)
    if unknown:
        count = human.count(len(unknown), "session")
        click.echo(f"\nHow it stood for {count} before is not known: it was kept only later.", color=colour)


def _about(known: "ContextFileIndex", file: "KnownContextFile") -> dict[str, Any]:
    about = msgspec.structs.asdict(_listed(known, file))
    return {name: about[name] for name in ("kind", "path", "project", "agents", "gone")}


def _version(one: "ContextVersion", runs: "Sequence[RanUnder]", diff: Any) -> ListedVersion:
    times = utc_time(one.time), utc_time(one.until), utc_time(one.kept)
    return ListedVersion(one.number, *times, one.size, tuple(map(_run, runs)), diff)


def _run(one: "RanUnder") -> ListedRun:
    session = one.session
    about = (session.key, session.title, session.agent, session.project, utc_time(session.started))
    return ListedRun(*about, one.how, one.changed)


def _version_lines(one: ListedVersion) -> "Iterator[str]":
    zone = settings.chosen_zone()
    end = human.minute(one.until, zone) if one.until is not None else "today"
    sessions = human.count(len(one.sessions), "session")
    number = click.style(f"{one.number:>4}", fg="yellow")
    yield ""
    yield f"{number}  {human.minute(one.since, zone)} – {end}  {human.size(one.size)}, {sessions}"
    for run in one.sessions[:_SHOWN]:
        title = cut_text(safe_text(run.title), max(20, output.terminal_width() - 50))
        when, changed = human.minute(run.started, zone), "changed meanwhile" if run.changed else ""
        yield click.style(f"      {run.session[:8]}  {human.joined(when, title, run.how, changed)}", dim=True)
    if len(one.sessions) > _SHOWN:
        yield click.style(f"      and {len(one.sessions) - _SHOWN:,} more", dim=True)


def _tell_session(known: "ContextFileIndex", key: str, given: dict[str, Any], *, as_json: bool) -> None:
    if given["diff"]:
        raise UsageProblem("--diff is of a file; name one by its path.")
    found = [
        one
        for one in known.of_session(key)
        if (not given["kind"] or one.file.kind in given["kind"])
        and (not given["project"] or any(text in one.file.project for text in given["project"]))
    ]
    shown = found[: given["limit"] or None]
    if as_json:
        print_json({"session": key, "context_files": [_under(one) for one in shown]})
    elif shown:
        zone = settings.chosen_zone()
        print_table(
            [
                Column("kind", [one.file.kind for one in shown], right=False),
                Column("path", [safe_text(one.file.place) for one in shown], right=False, least=24, tail=True),
                Column("version", [_of_versions(one) for one in shown], right=False),
                Column("since", [_since(one, zone) for one in shown], right=False, rank=2),
                Column("told", [human.joined(one.how, "changed" if one.changed else "") for one in shown], right=False),
            ]
        )
    else:
        click.echo("No context file of this session is kept.", err=True)
    if not shown:
        raise click.exceptions.Exit(1)


def _of_versions(one: "RanUnder") -> str:
    return f"{one.version.number} of {one.file.versions}" if one.version is not None else "?"


def _since(one: "RanUnder", zone: Any) -> str:
    return human.minute(utc_time(one.version.time), zone) if one.version is not None else ""


def _under(one: "RanUnder") -> dict[str, Any]:
    version = None if one.version is None else one.version.number
    since = None if one.version is None else utc_time(one.version.time)
    still = one.version is not None and one.version.until is None
    return {
        "kind": one.file.kind, "path": one.file.place, "version": version, "versions": one.file.versions,
        "since": since, "current": still, "how": one.how, "changed": one.changed,
    }  # fmt: skip


def _agent_names(agents: "Sequence[str]") -> list[str]:
    from unspool.agents import agent_name

    return [agent_name(one) for one in agents[:_SHOWN]] + (["…"] if len(agents) > _SHOWN else [])
