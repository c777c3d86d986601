"""Shares for programs: sent, listed, changed, removed; and as session-share's service has it."""

import re
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unspool.hub.asked import hub, person
from unspool.hub.shares.expiry import delete
from unspool.hub.shares.keeping import Upload, change, keep, update
from unspool.hub.shares.secret import address
from unspool.hub.shares.share import COLUMNS, LIVE, NOTHING, Share, live
from unspool.hub.shares.spool import spooled
from unspool.hub.shares.wish import Wish, asked, changed
from unspool.hub.store.blobs import now
from unspool.hub.trouble import Hidden, Unfit
from unspool.hub.work import aside
from unspool.library.scratch import scratch

KEY = "Idempotency-Key"
_KEYS = re.compile(r"[\x21-\x7e]{16,200}")
_MOST = 200


async def session(request: Request) -> Response:
    """An upload as session-share's service takes it, and its answer."""
    share = await taken(request, Wish())
    return JSONResponse({"id": share.address})


async def sent(request: Request) -> Response:
    """An upload with options; how it is shared."""
    share = await taken(request, asked(request.query_params, request.headers))
    return JSONResponse(_data(request, share), 201, {"Location": f"/{share.address}"})


async def replaced(request: Request) -> Response:
    """Other content at the same address."""
    before = await aside(live, hub(request).store.db, request.path_params["address"])
    wish = asked(request.query_params, request.headers)
    with scratch() as folder:
        bundle = await spooled(request, folder, hub(request).terms.upload)
        upload = Upload(bundle, before.address, before.owner, wish)
        share = await aside(update, hub(request), upload, before)
    return JSONResponse(_data(request, share))


def listed(request: Request) -> Response:
    """One's own shares, the newest first, a page at a time; with `listed`, those that anybody of the hub may see."""
    most = min(_MOST, _whole(request, "limit", 50))
    time, _, name = request.query_params.get("before", "").partition(" ")
    at = (int(time) if time.isascii() and time.isdigit() and len(time) < 16 else now() + 1, name)
    everyone = "listed" in request.query_params
    only, value = (f"listed = 1 AND {LIVE}", now()) if everyone else ("owner = ?", person(request).id)
    rows = hub(request).store.db.rows(
        f"SELECT {COLUMNS} FROM share WHERE {only} AND (created < ? OR created = ? AND address < ?)"  # noqa: S608
        " ORDER BY created DESC, address DESC LIMIT ?",
        value, at[0], at[0], at[1], most + 1,
    )  # fmt: skip
    shares = [Share(*row) for row in rows]
    last = shares[most - 1] if len(shares) > most else None
    data = {"shares": [_data(request, one) for one in shares[:most]]}
    return JSONResponse({**data, "next": f"{last.created} {last.address}" if last else None})


def one(request: Request) -> Response:
    """How something is shared."""
    return JSONResponse(_data(request, live(hub(request).store.db, request.path_params["address"])))


async def patched(request: Request) -> Response:
    """The same content, otherwise."""
    try:
        wish = changed(msgspec.json.decode(request.state.body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unfit("What was sent is no JSON.") from None
    share = await aside(live, hub(request).store.db, request.path_params["address"])
    return JSONResponse(_data(request, await aside(change, hub(request), share, wish)))


def deleted(request: Request) -> Response:
    """The end of a share."""
    if not delete(hub(request).store.db, request.path_params["address"]):
        raise Hidden(NOTHING)
    return JSONResponse({"deleted": request.path_params["address"]})


async def taken(request: Request, wish: Wish) -> Share:
    """An upload, kept as it is wished."""
    the, who = hub(request), person(request)
    key = request.headers.get(KEY, "")
    if key and not _KEYS.fullmatch(key):
        raise Unfit(f"{KEY} is a word of 16 to 200 letters, digits and marks.")
    with scratch() as folder:
        bundle = await spooled(request, folder, the.terms.upload)
        place = await aside(address, the.store.db, who.id, key)
        share = await aside(keep, the, Upload(bundle, place, who.id, wish))
    request.state.target = share.address
    return share


def _data(request: Request, share: Share) -> dict[str, Any]:
    own = hub(request).terms.url.rstrip("/") or str(request.base_url).rstrip("/")
    return {**share.data(), "url": f"{own}/{share.address}"}


def _whole(request: Request, name: str, usual: int) -> int:
    said = request.query_params.get(name, "")
    return max(1, int(said)) if said.isascii() and said.isdigit() and len(said) < 6 else usual
