"""What the commands about the archive share: which files are a session's, and how they are printed."""

from typing import TYPE_CHECKING

from unspool.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from unspool.store.archive import Archive
    from unspool.store.archive.forget import SessionFile
    from unspool.store.archive.line_filter import Drops
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
    from unspool.store.archive.line_filter import split_lines

    found = {}
    for origin in archive.origins():
        for path, last in archive.kept(origin).items():
            if session_of_path(path):
                continue
            generations = archive.generations(last.file)
            lines = (line for kept in generations for line in split_lines(archive.stream(kept.generation)))
            count = sum(session.encode() in line and not own(line) for line in lines)
            if count:
                found[path] = count
    return found


def file_size(path: "Path") -> int:
    return path.stat().st_size if path.exists() else 0
