"""`unspool requests`: what was sent to the model, exactly, where the log keeps it."""

from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_json, print_nodes
from unspool.cli.tables import Column, print_table
from unspool.errors import NotFound

if TYPE_CHECKING:
    from unspool.figures.context_window import RequestWindow
    from unspool.model.request import RecordedRequests, SentRequest
    from unspool.store.library import Library


@click.command("requests")
@click.argument("session", default="latest")
@click.argument("request", default="")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="The last request of a turn.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; of one request, what went to the provider.")
@options.sources
def command(session: str, request: str, turn: int | None, as_json: bool, library: "Library") -> None:
    """List the requests that a log keeps whole, or show one of them exactly.

    \b
    unspool requests                     those of the session you used last
    unspool requests 4f2a 9c31           one of them: system prompt, tools and every message
    unspool requests 4f2a --turn 3       the last request of turn 3
    unspool requests 4f2a 9c31 --json | jq '.tools[].name'

    Claude Code keeps its requests since 2.1.28x. A request is put together from several lines of the log, each
    message proven by its hash.
    """
    from unspool.figures.context_window import request_windows

    log = library.resolve(session)
    recorded = library.requests(log)
    if not recorded:
        raise NotFound("The log of this session keeps no requests.")
    found = library.open(log)
    answers = {one.request: one.id for one in found.messages if one.request}
    by_message = {one.message: one for one in request_windows(found, recorded)}
    windows = {name: by_message[message] for name, message in answers.items() if message in by_message}
    if turn is not None and not request:
        request = next((name for name in reversed(list(windows)) if windows[name].turn == turn), "")
        if not request:
            raise NotFound(f"No request of turn {turn} is in the log.")
    if request:
        _show(recorded, request, as_json=as_json)
    else:
        _list(recorded, windows, as_json=as_json)


def _show(recorded: "RecordedRequests", name: str, *, as_json: bool) -> None:
    from unspool.render.transcript import request_nodes

    request = recorded.get(name)
    if request is None:
        raise NotFound(f"The log keeps no request whose id begins with “{name}”.")
    if as_json:
        print_json(request.body)
        return
    print_nodes(request_nodes(request))


def _list(recorded: "RecordedRequests", windows: "dict[str, RequestWindow]", *, as_json: bool) -> None:
    rows = [request for name in recorded if (request := recorded.get(name)) is not None]
    found = [windows.get(request.id) for request in rows]
    if as_json:
        print_json({"requests": [_data(request, window) for request, window in zip(rows, found, strict=True)]})
        return
    columns = [
        Column("id", [request.id[:8] for request in rows], right=False),
        Column("when", [human.moment(request.time, None) for request in rows], right=False, rank=2),
        Column("turn", [str(one.turn) if one is not None else "" for one in found]),
        Column("for", [request.purpose for request in rows], right=False, rank=3, least=6),
        Column("model", [request.model for request in rows], right=False, rank=1, least=8),
        Column("messages", [f"{len(request.messages):,}" for request in rows]),
        Column("tools", [f"{len(request.tools):,}" for request in rows], rank=3),
        Column("tokens", [f"{one.total:,}" if one is not None else "" for one in found]),
        Column("", ["" if request.complete else "not whole" for request in rows], right=False),
    ]
    print_table(columns)


def _data(request: "SentRequest", window: "RequestWindow | None") -> dict[str, object]:
    return {
        "id": request.id,
        "time": request.time,
        "turn": window.turn if window is not None else None,
        "for": request.purpose,
        "model": request.model,
        "messages": len(request.messages),
        "tools": len(request.tools),
        "tokens": window.total if window is not None else None,
        "kinds": window.kinds if window is not None else None,
        "complete": request.complete,
    }
