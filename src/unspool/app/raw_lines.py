"""`/s/{key}/raw`: the log lines behind a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from unspool.agents import FoundLog
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession
from unspool.app.render import HOME, render_page, render_template
from unspool.app.session_cache import get_session
from unspool.app.session_frame import NO_CACHE
from unspool.errors import NotFound
from unspool.figures import all_turns, family
from unspool.model import Json, Place, Session, ToolCall
from unspool.site.address import Addresses, Item
from unspool.site.page_template import Crumb
from unspool.store.library.inputs import hold_stream, open_log

_LONGEST = 4_000
"""Characters of one string that are shown; the whole line can be had as it is."""
_PART = 1 << 20


class RawLine(NamedTuple):
    """A line of a log."""

    log: str
    place: Place
    what: str
    raw: bytes

    @property
    def pretty(self) -> str:
        """The line laid out; as it is where it holds no JSON. Endless strings are cut, and say so."""
        try:
            data = msgspec.json.decode(self.raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.raw.decode("utf-8", "replace")
        return msgspec.json.format(msgspec.json.encode(_short(data)), indent=2).decode()


def lines_of_block(desk: AppContext, told: OpenSession, anchor: str) -> tuple[list[RawLine], str]:
    """The lines behind a block or prompt, by its anchor, with those of a call's answers; and where it is told."""
    addresses = told.addresses(desk.options)
    owner, item = _item(told.session, addresses, anchor)
    places = {item.place: "Line"}
    if isinstance(item, ToolCall):
        for answer in (*item.earlier, *((item.result,) if item.result is not None else ())):
            places.setdefault(answer.place, "Answer on line")
    with _log(desk, told.found, owner) as stream:
        ordered = sorted(places, key=lambda place: place.offset)
        found = [RawLine(owner.log.path, place, places[place], _read(stream, place)) for place in ordered]
    return found, addresses.link(item)


def _item(session: Session, addresses: Addresses, anchor: str) -> tuple[Session, Item]:
    """Whose block has an anchor; the address is only ever compared, so it can name nothing else."""
    for member in family(session):
        for turn in all_turns(member):
            for item in (*((turn.prompt,) if turn.prompt is not None else ()), *turn.blocks):
                if addresses.anchor(item) == anchor:
                    return member, item
    raise NotFound("The session has no such block.")


@contextmanager
def _log(desk: AppContext, found: FoundLog, owner: Session) -> Iterator[BinaryIO]:
    """The log of a session or subagent at its start, from its place or from the archive."""
    if not found.origin:
        with open_log(owner.log.path) as stream:
            yield stream
        return
    with desk.archive() as archive:
        inside = Path(owner.log.path).relative_to(found.root).as_posix()
        kept = archive.last(found.origin, inside)
        if kept is None:
            raise NotFound("The archive holds no such log.")
        with hold_stream(archive.read(kept.generation)) as stream:
            yield stream


def _read(stream: BinaryIO, place: Place) -> bytes:
    """The bytes at a place of a stream that stands before it; packed streams cannot leap."""
    if stream.seekable():
        stream.seek(place.offset)
    while (left := place.offset - stream.tell()) > 0 and stream.read(min(left, _PART)):
        pass
    return stream.read(place.size)


def _short(value: Json) -> Json:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}… ({len(value) - _LONGEST:,} more characters)"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return [_short(inner) for inner in value] if isinstance(value, list) else value


def raw_lines_page(request: Request) -> Response:
    """The lines behind a block, laid out; with `exact`, their very bytes."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    found, back = lines_of_block(desk, told, request.query_params.get("block", ""))
    if "exact" in request.query_params:
        whole = b"\n".join(line.raw.removesuffix(b"\n") for line in found) + b"\n"
        headers = {**NO_CACHE, "Content-Disposition": 'attachment; filename="lines.jsonl"'}
        return PlainTextResponse(whole, headers=headers)
    body = render_template("raw.html", lines=found, log=found[0].log, back=back, anchor=request.query_params["block"])
    crumbs = (HOME, Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"))
    return render_page(request, "Raw lines", body, crumbs, ("read.css",))
