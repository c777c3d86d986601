"""The signpost leads where trying one way after the other would."""

from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from unspool.hub.routes import Router, all_routes


def nothing(_: object) -> Response:
    return Response()


ROUTES = [Route(way.path, nothing, methods=[way.method]) for way in all_routes()]
WORDS = [*sorted({part for way in all_routes() for part in way.path.split("/")}), "x" * 22, "index.html", ""]
SIGNPOST = Router(ROUTES)


def tried(scope: Scope) -> tuple[Match, BaseRoute | None]:
    """What Starlette's own router does."""
    found = [(route.matches(scope)[0], route) for route in ROUTES]
    full = next((route for match, route in found if match is Match.FULL), None)
    half = next((route for match, route in found if match is Match.PARTIAL), None)
    return (Match.FULL, full) if full else (Match.PARTIAL, half) if half else (Match.NONE, None)


@given(st.lists(st.sampled_from(WORDS), max_size=5), st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]))
def test_every_path_leads_where_trying_all_ways_in_order_leads(words: list[str], method: str) -> None:
    scope = {"type": "http", "method": method, "path": "/" + "/".join(words), "path_params": {}}
    match, child = SIGNPOST.matches(dict(scope))
    assert (match, child.get("unspool.way")) == tried(dict(scope))


def test_every_way_is_reached_by_its_own_path() -> None:
    for route in ROUTES:
        path = route.path.replace("{name:path}", "a/b").replace("{page:path}", "a/b").replace("{", "").replace("}", "")
        scope = {"type": "http", "method": min(route.methods or ()), "path": path, "path_params": {}}
        assert SIGNPOST.matches(dict(scope))[1]["unspool.way"] is tried(dict(scope))[1]


def test_a_path_of_a_server_as_a_whole_leads_nowhere() -> None:
    """`OPTIONS *` is a request that a server may be sent."""
    assert SIGNPOST.matches({"type": "http", "method": "GET", "path": "*", "path_params": {}})[0] is Match.NONE
