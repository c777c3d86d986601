"""What was said and done in any session: /api/search."""

from starlette.requests import Request

from unspool.app.api.endpoint import Endpoint, Parameter
from unspool.app.config.store import current
from unspool.errors import UsageProblem
from unspool.index.query import parse
from unspool.index.results import Results
from unspool.index.search import Wanted, search


def _search(request: Request, q: str, limit: int, hits: int, context: int) -> Results:
    query = parse(q, zone=current().zone)
    if query.tree is None and not query.filters:
        raise UsageProblem(" ".join((*query.notes, "Say what to look for with q.")))
    desk = request.app.state.desk
    with desk.index() as index, desk.archive() as archive:
        return search(index.db, archive, query, Wanted(limit, hits, context))


ENDPOINTS = (
    Endpoint(
        "/api/search",
        "Sessions that hold words, with their best hits; the question is as for `unspool search`.",
        _search,
        Results,
        (
            Parameter(
                "q", 'Words, "phrases", OR, -without, and filters such as project: role: tool: since:.', default=""
            ),
            Parameter("limit", "At most so many sessions.", int, 10, least=1, most=100),
            Parameter("hits", "At most so many hits of each.", int, 3, least=1, most=50),
            Parameter("context", "Characters of a hit.", int, 160, least=20, most=2000),
        ),
    ),
)
