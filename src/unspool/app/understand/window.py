"""`/s/{key}/context`: what filled the window of a session, turn by turn and by kind, with its compactions."""

from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import render
from unspool.app.desk import Desk
from unspool.app.reading.held import reading
from unspool.app.reading.told import Reading
from unspool.app.understand import figures
from unspool.app.understand.stacks import now, stacks
from unspool.app.understand.tables import Cell, Table, as_csv, counted, named, shares
from unspool.export.html import Paint, fragment
from unspool.figures.filling import Filling, filling, requests
from unspool.model.request import RecordedRequests
from unspool.site import brief
from unspool.site.frame import Crumb
from unspool.site.statistics import Tile
from unspool.transcript.sent import request_nodes

_LISTED = 500
"""Requests that a page lists, the newest."""


def page(request: Request) -> HTMLResponse:
    """The window of a session."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    recorded = desk.library().requests(told.found)
    filled = filling(told.session, recorded)
    body = render.render(
        "window.html",
        title=told.session.title,
        tiles=_tiles(filled),
        stacks=stacks(filled, told.addresses(desk.options)),
        now=now(filled),
        tables=_tables(told, filled, desk),
        requests=_requests(told, recorded),
        measured=filled.now is not None and filled.now.measured,
        exact=filled.now is not None and filled.now.exact,
    )
    crumbs = (render.HOME, Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"))
    return render.page(request, "Context window", body, crumbs, styles=("find.css", "stats.css", "kinds.css"))


def table(request: Request) -> Response:
    """One of its tables as CSV."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    filled = filling(told.session, desk.library().requests(told.found))
    found = _tables(told, filled, desk).get(request.path_params["name"])
    if found is None:
        return Response("There is no such table.", 404, media_type="text/plain")
    headers = {"Content-Disposition": f'attachment; filename="unspool-{found.name}.csv"'}
    return Response(as_csv(found).encode(errors="replace"), media_type="text/csv; charset=utf-8", headers=headers)


def sent(request: Request) -> Response:
    """One request, exactly as it went to the model."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    recorded = desk.library().requests(told.found)
    found = recorded.get(request.path_params["request"]) if recorded else None
    if found is None:
        return Response("The log keeps no such request.", 404, media_type="text/plain")
    body = render.render("request.html", inside=Markup(fragment(request_nodes(found, None), Paint())))  # noqa: S704  a writer's markup
    crumbs = (
        render.HOME,
        Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"),
        Crumb("Context window", f"s/{quote(told.session.id, safe='')}/context"),
    )
    return render.page(request, "Request", body, crumbs, styles=("find.css", "stats.css"))


def _requests(told: Reading, recorded: RecordedRequests | None) -> Table | None:
    """The requests that the log keeps, the newest first, each with a link to all of it."""
    if not recorded:
        return None
    windows = {one.message: one for one in requests(told.session, recorded)}
    answers = {one.request: windows.get(one.id) for one in told.session.messages if one.request}
    rows = []
    for name in reversed(list(recorded)[-_LISTED:]):
        found, window = recorded.get(name), answers.get(name)
        if found is None:
            continue
        rows.append(
            (
                named(human.moment(found.time, None) or name[:8], f"request/{quote(name, safe='')}"),
                Cell(str(window.turn) if window is not None else found.purpose, window.turn if window else ""),
                counted(len(found.messages)),
                counted(window.total) if window is not None else Cell("", ""),
            )
        )
    return Table("requests", "Requests, exactly", ("sent", "turn or purpose", "messages", "tokens"), tuple(rows), ())


def _tables(told: Reading, filled: Filling, desk: Desk) -> dict[str, Table]:
    """Kinds, turns and tools."""
    found = (_kinds(filled), _turns(told, filled, desk), _tools(filled))
    return {table.name: table for table in found}


def _tiles(filled: Filling) -> list[Tile]:
    if filled.now is None:
        return []
    size = f"of {human.tokens(filled.window)}" if filled.window else "of a window of unknown size"
    share = figures.share(filled.share)
    return [
        Tile("At the end", human.tokens(filled.now.total), size, f"{filled.now.total:,}"),
        *([Tile("Of the window", share, filled.now.model)] if share else []),
        Tile("At its fullest", human.tokens(filled.peak), "", f"{filled.peak:,}"),
        Tile("Compactions", f"{filled.compactions:,}", "emptied it" if filled.compactions else ""),
    ]


def _kinds(filled: Filling) -> Table:
    found = filled.now
    rows = sorted(found.kinds.items(), key=lambda row: -row[1]) if found is not None else []
    if found is not None and found.measured and not found.exact:
        rows.append(("unaccounted", found.unaccounted))
    whole = found.total if found is not None else 0
    cells = tuple(
        (named(name), counted(tokens), Cell(figures.share(tokens / whole), round(tokens / whole, 4)))
        for name, tokens in rows
        if whole
    )
    return Table("kinds", "By kind, at the end", ("kind", "tokens", "share"), cells, shares([n for _, n in rows]))


def _turns(told: Reading, filled: Filling, desk: Desk) -> Table:
    prompts = {turn.number: turn.prompt for turn in told.session.turns}
    addresses = told.addresses(desk.options)
    rows = tuple(
        (
            named(f"{turn.number} {brief.line(prompts[turn.number])}", addresses.turn(turn.number)),
            counted(turn.tokens),
            named(max(turn.added, key=turn.added.__getitem__, default="")),
            Cell("", "") if turn.window is None else counted(turn.window.total),
            counted(turn.compactions),
        )
        for turn in filled.turns
    )
    bars = shares([turn.tokens for turn in filled.turns])
    return Table("turns", "By turn", ("turn", "added", "mostly", "in the window", "compactions"), rows, bars)


def _tools(filled: Filling) -> Table:
    rows = tuple((named(one.name), counted(one.tokens), *map(counted, (one.input, one.output))) for one in filled.tools)
    heads = ("tool", "tokens", "asked", "answered")
    return Table("tools", "By tool, at the end", heads, rows, shares([one.tokens for one in filled.tools]))


ROUTES = [
    Route("/s/{key}/context", page),
    Route("/s/{key}/context/{name}.csv", table),
    Route("/s/{key}/request/{request}", sent),
]
