"""Search in context files: which versions of which hold what was asked for, and whether that is still so."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from unspool.agents import agent_named
from unspool.agents.context_files import CONTEXT_KINDS
from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.context_files import decode_context
from unspool.store.index.filters import BOUNDS, holding, join_filters, parse_bound
from unspool.store.index.normalize_text import full_text_match
from unspool.store.index.query import Filter, SearchQuery
from unspool.store.index.results import FoundContextFile, SearchResults, Snippet

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

_FEW = 3
"""Files that are shown after sessions, where nobody asks for files."""
_MOST_VERSIONS = 20_000
_ROWS = """SELECT context_file.id, context_version.id, generation, number, time, until, kind, place, project, agents,
(SELECT count(*) FROM context_version AS other WHERE other.file = context_file.id)"""
_JOIN = "context_version JOIN context_file ON context_file.id = context_version.file"

Pick = Callable[[Sequence[str]], Snippet | None]
"""Gives the piece of a text that shows what was looked for; None where it does not hold it."""


class _Row(NamedTuple):
    file: int
    version: int
    generation: int
    number: int
    time: float
    until: float | None
    kind: str
    place: str
    project: str
    agents: str
    versions: int


class ContextSearch(NamedTuple):
    """What is looked for in context files, and how it is shown."""

    db: apsw.Connection
    archive: "ArchiveDatabase"
    query: SearchQuery
    pick: Pick
    words: str = ""
    """Words that a version holds wherever the pattern fits, as the full-text index takes them; of an exact search."""
    exact: bool = False

    def added_to(self, results: SearchResults, most: int) -> SearchResults:
        """The results with the context files that fit: as many as there may be sessions where files are asked for by
        their kind; else a few, and only for words."""
        asked = names_context_kind(self.query.filters)
        if not asked and self.query.tree is None and not self.exact:
            return results
        rows = self._rows()
        if self.exact:
            return self._proved(results, rows, most if asked else _FEW)
        shown = [found for row in rows[: (most if asked else _FEW) or None] if (found := self._found(row)) is not None]
        return results.with_context_files(shown, len(rows))

    def _proved(self, results: SearchResults, rows: list[_Row], most: int) -> SearchResults:
        """Of each file the newest version that holds the pattern."""
        found: dict[int, FoundContextFile] = {}
        for row in rows:
            if row.file not in found and (one := self._found(row)) is not None:
                found[row.file] = one
        return results.with_context_files(list(found.values())[: most or None], len(found))

    def _rows(self) -> list[_Row]:
        """Of each file the newest version that holds the words, the best first; of an exact search all versions that
        may, the newest first. Without words, the last changed first."""
        where = all_of(context_conditions(self.query))
        tree = self.query.tree
        found = None if tree is None else full_text_match(tree)
        match, values = ([self.words], where.values) if self.words else ([], where.values)
        if found is not None and not found.excluded:
            match.append(found.text)
        sql = f"{_ROWS} FROM {_JOIN} WHERE {where.sql}"
        if found is not None and found.excluded:
            sql += " AND context_version.id NOT IN (SELECT rowid FROM context_text WHERE context_text MATCH ?)"
            values = (*values, found.text)
        order = "ORDER BY time DESC, number DESC"
        if match:
            sql = sql.replace(f"FROM {_JOIN}", f"FROM context_text JOIN {_JOIN}", 1)
            sql += " AND context_version.id = context_text.rowid AND context_text MATCH ?"
            values = (*values, " AND ".join(f"({one})" for one in match))
            order = order if self.exact else "ORDER BY rank, time DESC"
        rows: Any = self.db.execute(f"{sql} {order} LIMIT {_MOST_VERSIONS}", values)
        every = [_Row(*row) for row in rows]
        return every if self.exact else _newest_of_each(every)

    def _found(self, row: _Row) -> FoundContextFile | None:
        text = decode_context(self.archive.read(row.generation)) or ""
        snippet = self.pick([text])
        if snippet is None:
            return None
        told = (row.kind, row.place, row.project, tuple(row.agents.split()), row.time)
        return FoundContextFile(*told, row.number, row.versions, row.until is None, snippet)


def _newest_of_each(rows: Sequence[_Row]) -> list[_Row]:
    """Of each file its newest version, in the place of its best."""
    found: dict[int, _Row] = {}
    for row in rows:
        known = found.get(row.file)
        if known is None or row.number > known.number:
            found[row.file] = row  # a dictionary keeps the place of what it had
    return list(found.values())


def names_context_kind(filters: Sequence[Filter]) -> bool:
    """Whether filters ask for a kind of context files."""
    return any(
        one.name == "kind" and not one.excluded and one.value.strip().lower() in CONTEXT_KINDS for one in filters
    )


def context_conditions(query: SearchQuery) -> list[SqlCondition]:
    """What filters ask of context files; one that means nothing for files leaves none."""

    def condition(filter_: Filter) -> SqlCondition:
        value = filter_.value.strip()
        if filter_.name == "project":
            return holding("project", value)
        if filter_.name == "agent":
            return SqlCondition("instr(agents, ?) > 0", (f" {agent_named(value).id} ",))
        if filter_.name == "kind" and value.lower() in CONTEXT_KINDS:
            return SqlCondition("kind = ?", (value.lower(),))
        if filter_.name in BOUNDS:
            return SqlCondition(f"time {BOUNDS[filter_.name]} ?", (parse_bound(filter_, query.zone),))
        return SqlCondition("FALSE")

    return join_filters(query.filters, condition)
