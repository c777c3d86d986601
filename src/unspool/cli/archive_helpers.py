"""What the commands about the archive share: which files are a session's, and how they are printed."""

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from unspool.store.archive import Archive
    from unspool.store.archive.forget import SessionFile
    from unspool.store.archive.line_filter import Drops
    from unspool.store.archive.verify import Damage
    from unspool.store.sync.prompts import OwnPrompts

_BEGINNING = 4096


def session_of_path(path: str) -> str:
    """The session that a path is of, whichever agent's it is; empty where it is no single session's."""
    from unspool.agents import AGENTS

    return next((session for format_ in AGENTS if (session := format_.session_of(path))), "")


def session_files(archive: "Archive", name: str) -> "tuple[str, list[SessionFile]]":
    """A session by its id or how that begins, and all its files, subagents' logs that lie elsewhere among them."""
    from unspool.store.archive.forget import find_session_files

    session, files = find_session_files(archive, name, session_of_path)
    return session, [*files, *_beside(archive, session, files)]


def forgettable_files(archive: "Archive", name: str) -> "tuple[str, list[SessionFile], OwnPrompts]":
    """A session, the files that go with it, and what is its own in files that stay. A ghost has only the latter."""
    from unspool.errors import NotFound
    from unspool.store.sync.prompts import own_prompts, session_of_prompt

    try:
        session, files = session_files(archive, name)
    except NotFound:
        session, files = session_of_prompt(archive, name), []
    its = own_prompts(archive, session)
    return session, [*files, *its.alone], its


def _beside(archive: "Archive", session: str, files: "list[SessionFile]") -> "list[SessionFile]":
    """Logs of subagents that only name their session in their first lines."""
    from unspool.agents import AGENTS
    from unspool.store.archive.forget import SessionFile

    places = {one.origin: one.place for one in files}
    return [
        SessionFile(origin, place, kept)
        for origin, place in places.items()
        for path, kept in archive.kept(origin).items()
        if any(format_.is_stray_agent(path) for format_ in AGENTS)
        and f'"{session}"'.encode() in archive.read(kept.generation, 0, _BEGINNING)
    ]


def other_mentions(archive: "Archive", session: str, own: "Drops") -> dict[str, int]:
    """Kept files that are no single session's, and how many of their lines name one without being its `own`; all
    generations together."""
    found = {}
    for origin in archive.origins():
        for path, last in archive.kept(origin).items():
            if session_of_path(path):
                continue
            generations = archive.generations(last.file)
            count = sum(_lines(archive, kept.generation, session.encode(), own) for kept in generations)
            if count:
                found[path] = count
    return found


def _lines(archive: "Archive", generation: int, needle: bytes, own: "Drops") -> int:
    from unspool.store.archive.line_filter import split_lines

    return sum(needle in line and not own(line) for line in split_lines(archive.stream(generation)))


def printable_data(value: Any) -> Any:
    """Data with what no text can hold (bytes of names that are no text) replaced."""
    import msgspec

    def mended(part: Any) -> Any:
        if isinstance(part, str):
            return part.encode(errors="replace").decode()
        if isinstance(part, dict):
            return {mended(key): mended(inner) for key, inner in part.items()}
        return [mended(inner) for inner in part] if isinstance(part, (list, tuple)) else part

    return mended(msgspec.to_builtins(value))


def print_json(value: Any) -> None:
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(printable_data(value))).decode())


def say_line(text: str, *, err: bool = False) -> None:
    """Print a line in which names of files stand; they cannot drive the terminal."""
    from unspool.render.sanitize import safe_lines

    click.echo("\n".join(safe_lines(printable_data(text))), err=err)


def say_damage(damages: "Iterable[Damage]") -> None:
    for one in damages:
        where = f"{one.path}, generation {one.generation}, bytes {one.start:,} to {one.start + one.size:,}"
        say_line(f"  {where} (of {one.machine}, {one.root}): {one.why}")


def confirm_typed(question: str, answer: str) -> bool:
    """Whether somebody at a terminal typed the answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    typed: str = click.prompt(question, default="", show_default=False, err=True)
    return typed.strip() == answer


def file_size(path: "Path") -> int:
    return path.stat().st_size if path.exists() else 0
