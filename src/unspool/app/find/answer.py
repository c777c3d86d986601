"""A question put to the index and the archive."""

import apsw
import msgspec

from unspool.app.desk import Desk
from unspool.app.find.asked import Asked
from unspool.app.find.shown import Shown, shown
from unspool.app.marks.desk import own_titles
from unspool.archive import Archive
from unspool.errors import UsageProblem
from unspool.export.html.escape import visible
from unspool.index.exact import exact
from unspool.index.pattern import substring
from unspool.index.results import Results
from unspool.index.search import search


def answered(desk: Desk, question: Asked) -> Shown:
    """The answer to a question; one that means nothing is answered with why."""
    with desk.index() as index, desk.archive() as archive:
        try:
            return _named(desk, shown(_results(index.db, archive, question), question))
        except UsageProblem as problem:
            return Shown(problem=visible(str(problem)))


def _named(desk: Desk, answer: Shown) -> Shown:
    """The answer with sessions called as a person calls them."""
    titles, replace = own_titles(desk), msgspec.structs.replace
    named = (replace(one, title=visible(titles.get(one.key, one.title))) for one in answer.sessions)
    return replace(answer, sessions=tuple(named)) if titles else answer


def _results(db: apsw.Connection, archive: Archive, question: Asked) -> Results:
    query = question.query
    if question.exact and question.text:
        return exact(db, archive, substring(question.text), query, question.wanted)
    if query.tree is None and not query.filters:
        return Results((), 0, 0, query.notes)
    return search(db, archive, query, question.wanted)
