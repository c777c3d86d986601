"""Lists of files: projects with files, and files by how often they were changed."""

import re
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

import apsw

from unspool import human
from unspool.app.context import AppContext, cached_answer
from unspool.app.marks import read_marks
from unspool.app.project_list import ProjectList
from unspool.app.render import LinkChoice, render_template
from unspool.app.stats_tables import file_href
from unspool.figures.file_states import forward_slashes
from unspool.render.html.elements import visible
from unspool.store.index.conditions import SqlCondition
from unspool.store.index.times import utc_time
from unspool.store.index.touched_files import FILE_PATH, FileSum, holding_words, sum_files, sum_projects

_LISTED = 500


class FileRow(NamedTuple):
    """A file, or a project with files, in a list."""

    name: str
    href: str
    path: str
    """All of it."""
    place: str
    """Where it lies, where its name does not tell."""
    facts: tuple[str, ...]
    added: int
    removed: int
    last: datetime | None
    file: bool = True


def render_file_list(context: AppContext, db: apsw.Connection, path: str, words: str, slug: str) -> tuple[str, str]:
    """The files below a path or of that name, with some words in their path, of a project; projects where nothing is
    asked for. And what the project is called."""
    projects = ProjectList.of(db)
    project = projects.projects[slug].path if slug in projects.projects else None
    asked = [holding_words(words)] if words.strip() else []
    if path:
        asked.append(_below(path))
    if asked or project is not None:
        rows = [_file_row(one, project) for one in sum_files(db, asked, _LISTED + 1, project)]
    else:
        rows = _project_rows(context, db, projects)
    label = projects.label(project) if project is not None else ""
    body = render_template(
        "files.html",
        title=label or "Files",
        project=slug if project is not None else "",
        place=visible(project or ""),
        words=visible(words or path),
        trail=folder_trail(path) if path.endswith("/") else [],
        rows=rows[:_LISTED],
        more=len(rows) > _LISTED,
        asked=bool(asked) or project is not None,
    )
    return body, label


def _below(path: str) -> SqlCondition:
    """Files below a folder; files whose path holds the text where it ends with no slash."""
    if path.endswith("/"):
        return SqlCondition(f"substr({FILE_PATH}, 1, ?) = ?", (len(path), path))
    return holding_words(path)


def _project_rows(context: AppContext, db: apsw.Connection, projects: ProjectList) -> list[FileRow]:
    hidden = read_marks(context).hidden
    sums = cached_answer(db, "files by project", lambda: sum_projects(db))
    found = sorted((one for one in sums if one.name not in hidden), key=lambda one: -(one.last or 0))
    slugs = {one.path: slug for slug, one in projects.projects.items()}
    return [
        FileRow(
            visible(projects.label(one.name)),
            f"/files?{urlencode({'project': slugs[one.name]}, errors='replace')}",
            visible(one.name),
            visible(one.name),
            (human.count(one.files, "file"), human.count(one.changes, "change"), human.count(one.sessions, "session")),
            one.added,
            one.removed,
            utc_time(one.last),
            file=False,
        )
        for one in found
        if one.name in slugs
    ]


def _file_row(one: FileSum, project: str | None) -> FileRow:
    folder = forward_slashes(project or "").rstrip("/") + "/"
    inside = bool(project) and one.name.startswith(folder)
    # a worktree's files are called as the project's are, and tell where they lie
    tree = "" if inside else one.name.rpartition(f"/{human.last_part(folder)}/")[2]
    name = one.name[len(folder) :] if inside else tree if project and tree else one.name
    counts = ((one.changes, "change"), (one.sessions, "session"), (one.reads, "read"))
    facts = tuple(human.count(number, noun) for number, noun in counts if number)
    place = one.name.removesuffix(name).rstrip("/") if project and not inside else ""
    names = visible(name), file_href(one.name), visible(one.name), visible(place)
    return FileRow(*names, facts, one.added, one.removed, utc_time(one.seen))


def folder_trail(path: str) -> list[LinkChoice]:
    """The folders above a path, and itself."""
    return [LinkChoice(visible(part[1]), file_href(path[: part.end()])) for part in re.finditer("([^/]+)/?", path)]
