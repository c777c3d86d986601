"""`unspool blame` and `unspool why`: who wrote each line of a file, and the prompt and the words before it."""

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.build_info import VERSION
from unspool.cli import fresh, options, output, settings
from unspool.cli.output import cut_text, print_json, safe_text, say_line
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from unspool.store.library.blame import Blame, BlamedLine

_LINES = re.compile(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?", re.S)
_TONES = {"exact": "green", "moved": "cyan", "content": "blue", "commit": "yellow", "none": "white"}
_NAME = 22


@click.command("blame")
@click.argument("file", metavar="FILE[:LINES]")
@click.option("--at", metavar="COMMIT", default="", help="The file as a commit has it.")
@click.option(
    "-f", "--format", "name", type=click.Choice(("agent-trace", "git-ai")), help="As a record for other programs."
)
@click.option("--write", is_flag=True, help="With -f git-ai: note it of the commit, where nothing is noted yet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def blame_command(file: str, archive: Path, as_json: bool, no_sync: bool, **given: Any) -> None:
    """Tell who wrote each line of a file: session, prompt, agent, or a person.

    \b
    unspool blame tides.py              all lines, like `git blame`
    unspool blame tides.py:10-40        some of them
    unspool blame tides.py --at HEAD~3  as a commit has it
    unspool blame tides.py -f agent-trace

    exact: a call in a log wrote the line so. moved: it was laid out anew or moved since, or written in another
    checkout. content: one call wrote the same elsewhere. commit: no call tells, only its commit is known; it is a
    person's where no session can have made that. none: nothing is known. Notes of git-ai and Agent Trace records are
    read where they are. A file that is not here is told as the logs last have it. What is new is kept first, in your
    usual archive (--no-sync leaves that out).
    """
    if given["write"] and given["name"] != "git-ai":
        raise UsageProblem("--write notes a commit's lines as git-ai does: add -f git-ai.")
    path, first, last = _parsed(file)
    found = _blame(path, given["at"], archive, no_sync=no_sync)
    if given["name"]:
        _print_record(found, given["name"], write=given["write"])
        return
    lines = [line for line in found.lines if first <= line.number <= last]
    if not lines and found.lines:
        raise NotFound(f"{path.name} has {human.count(len(found.lines), 'line')}.")
    if as_json:
        print_json({**_document(found), "lines": lines})
        return
    for line in lines:
        click.echo(_told(found, line), color=output.has_colours())
    _say_rest(found, lines)


@click.command("why")
@click.argument("line", metavar="FILE:LINE")
@click.option("--at", metavar="COMMIT", default="", help="The file as a commit has it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def why_command(line: str, at: str, archive: Path, as_json: bool, no_sync: bool) -> None:
    """Tell why a line is there: the prompt, and the words before the edit.

    \b
    unspool why tides.py:12

    What `unspool blame` finds for one line, with all that was asked and what the agent said just before it wrote it.
    """
    path, first, last = _parsed(line)
    if first != last:
        raise UsageProblem("Name one line: FILE:LINE.")
    found = _blame(path, at, archive, no_sync=no_sync)
    if not 1 <= first <= len(found.lines):
        raise NotFound(f"{path.name} has {human.count(len(found.lines), 'line')}.")
    meant = found.lines[first - 1]
    if as_json:
        print_json({**_document(found), "lines": [meant]})
        return
    click.echo(_told(found, meant), color=output.has_colours())
    if meant.change is not None:
        change = found.changes[meant.change]
        say_line(f"\nAsked, prompt {change.turn} of {safe_text(change.title)} ({change.session[:8]}):")
        say_line(safe_text(change.asked))
        if change.words.strip():
            say_line("\nSaid before it was written:")
            say_line(safe_text(change.words.strip()))
    elif meant.commit is not None:
        commit = found.commits[meant.commit]
        say_line(f"\n{commit.hash[:10]} {safe_text(commit.subject)}, by {safe_text(commit.author)}")


def _parsed(text: str) -> tuple[Path, int, int]:
    """A file and the lines that are meant of it; a file whose name ends like that is meant whole."""
    found = _LINES.fullmatch(text) if not Path(text).exists() else None
    if found is None:
        return Path(text).absolute(), 1, 10**9
    return Path(found[1]).absolute(), int(found[2]), int(found[3] or found[2])


def _blame(path: Path, at: str, archive: Path, *, no_sync: bool) -> "Blame":
    from unspool.store.index.touched_files import find_files
    from unspool.store.library import session_opener
    from unspool.store.library.blame import BlameSources, blame_file, blame_known

    fresh.keep_fresh(archive, no_sync=no_sync)
    library = options.kept_library(archive)
    with options.open_index(archive) as index:
        sources = BlameSources(index.db, session_opener(library), library.companions)
        if at or path.exists():
            return blame_file(sources, path, at)
        known = find_files(index.db, str(path), "", 2) or find_files(index.db, path.name, "", 2)
        if len(known) != 1:
            raise NotFound(f"There is no file {path}, and {'several' if known else 'none'} of that name in the logs.")
        return blame_known(sources, known[0].name)


def _document(found: "Blame") -> dict[str, Any]:
    return {
        "path": found.path,
        "at": found.at,
        "changes": found.changes,
        "commits": found.commits,
        "unread_sessions": found.left,
    }


def _told(found: "Blame", line: "BlamedLine") -> str:
    from unspool.agents import agent_name

    zone = settings.chosen_zone()
    commit = found.commits[line.commit] if line.commit is not None else None
    if line.change is not None:
        change = found.changes[line.change]
        who, when = change.session[:8], human.minute(change.time, zone)
        words = f"{agent_name(change.agent)}: {change.prompt}"
    elif line.noted:
        who, when, words = "noted", human.minute(commit.time, zone) if commit else "", line.noted
    elif commit is not None:
        who, when = commit.hash[:8], human.minute(commit.time, zone)
        words = commit.author.partition(" <")[0] if line.who == "person" else f"? {commit.subject}"
    else:
        who, when, words = "-", "", "not known"
    sure = click.style(f"{line.sure:<7}", fg=_TONES[line.sure])
    name = f"{cut_text(safe_text(' '.join(words.split())), _NAME):<{_NAME}}"
    number = click.style(f"{line.number:>5}", dim=True)
    return f"{who:<8} {sure} {when:<16} {name} {number} {safe_text(line.text)}"


def _say_rest(found: "Blame", lines: "list[BlamedLine]") -> None:
    """Whose the lines are, and what could not be looked at, for whoever reads along."""
    counts = Counter((line.who, line.sure) for line in lines)
    told = ", ".join(f"{number:,} {who} ({sure})" for (who, sure), number in counts.most_common())
    if lines:
        click.echo(f"unspool: {human.count(len(lines), 'line')}: {told}.", err=True)
    if found.left:
        click.echo(f"unspool: {human.count(found.left, 'session')} changed the file and could not be read.", err=True)


def _print_record(found: "Blame", name: str, *, write: bool) -> None:
    from unspool.store.library.attribution_notes import GIT_AI, agent_trace, git_ai_note
    from unspool.store.library.git_repository import GitRepository

    path = Path(found.path)
    repository = GitRepository.around(path.parent)
    head = repository.commit(found.at or "HEAD") if repository is not None else None
    if repository is None or head is None:
        raise NotFound(f"{path.name} is in no git repository with a commit.")
    place = path.resolve().relative_to(Path(repository.top).resolve()).as_posix()
    if name == "agent-trace":
        print_json(agent_trace(found, place, head.hash, VERSION))
        return
    note = git_ai_note(found, place, head.hash, VERSION)
    if not note:
        raise NotFound(f"{head.hash[:10]} brought no line of {place} that a session is known to have written.")
    if not write:
        say_line(note)
    elif repository.note(GIT_AI, head.hash):
        raise UsageProblem(f"Something is noted of {head.hash[:10]} already; it was left as it is.")
    elif not repository.add_note(GIT_AI, head.hash, note):
        raise UsageProblem("git did not take the note; it needs user.name and user.email.")
    else:
        say_line(f"Noted of {head.hash[:10]} in refs/notes/{GIT_AI}.")
