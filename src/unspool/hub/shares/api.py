"""Shares for programs: sent, listed, changed, removed; and as session-share's service has it."""

import re
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unspool.files import scratch_folder
from unspool.hub.context import hub, person
from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.shares.password import new_address
from unspool.hub.shares.share import COLUMNS, LIVE, NOTHING, HubShare, live_share
from unspool.hub.shares.share_options import ShareOptions, options_of_change, options_of_upload
from unspool.hub.shares.share_store import Upload, change_options, end_share, keep_share, replace_content
from unspool.hub.shares.upload import spool_upload
from unspool.hub.store.blobs import now
from unspool.hub.workers import run_in_thread

KEY = "Idempotency-Key"
_KEYS = re.compile(r"[\x21-\x7e]{16,200}")
_MOST = 200


async def upload_compatible(request: Request) -> Response:
    """An upload as session-share's service takes it, and its answer."""
    share = await take_upload(request, ShareOptions())
    return JSONResponse({"id": share.address})


async def upload_share(request: Request) -> Response:
    """An upload with options; how it is shared."""
    share = await take_upload(request, options_of_upload(request.query_params, request.headers))
    return JSONResponse(_data(request, share), 201, {"Location": f"/{share.address}"})


async def replace_share(request: Request) -> Response:
    """Other content at the same address."""
    before = await run_in_thread(live_share, hub(request).store.db, request.path_params["address"])
    wish = options_of_upload(request.query_params, request.headers)
    with scratch_folder() as folder:
        bundle = await spool_upload(request, folder, hub(request).terms.upload)
        upload = Upload(bundle, before.address, before.owner, wish)
        share = await run_in_thread(replace_content, hub(request), upload, before)
    return JSONResponse(_data(request, share))


def list_shares(request: Request) -> Response:
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
    shares = [HubShare(*row) for row in rows]
    last = shares[most - 1] if len(shares) > most else None
    data = {"shares": [_data(request, one) for one in shares[:most]]}
    return JSONResponse({**data, "next": f"{last.created} {last.address}" if last else None})


def get_share(request: Request) -> Response:
    return JSONResponse(_data(request, live_share(hub(request).store.db, request.path_params["address"])))


async def change_share(request: Request) -> Response:
    try:
        wish = options_of_change(msgspec.json.decode(request.state.body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("What was sent is no JSON.") from None
    share = await run_in_thread(live_share, hub(request).store.db, request.path_params["address"])
    return JSONResponse(_data(request, await run_in_thread(change_options, hub(request), share, wish)))


def delete_share(request: Request) -> Response:
    """The end of a share."""
    if not end_share(hub(request).store.db, request.path_params["address"]):
        raise NotVisible(NOTHING)
    return JSONResponse({"deleted": request.path_params["address"]})


async def take_upload(request: Request, wish: ShareOptions) -> HubShare:
    """An upload, kept as it is wished."""
    the, who = hub(request), person(request)
    key = request.headers.get(KEY, "")
    if key and not _KEYS.fullmatch(key):
        raise BadRequest(f"{KEY} is a word of 16 to 200 letters, digits and marks.")
    with scratch_folder() as folder:
        bundle = await spool_upload(request, folder, the.terms.upload)
        place = await run_in_thread(new_address, the.store.db, who.id, key)
        share = await run_in_thread(keep_share, the, Upload(bundle, place, who.id, wish))
    request.state.target = share.address
    return share


def _data(request: Request, share: HubShare) -> dict[str, Any]:
    own = hub(request).terms.url.rstrip("/") or str(request.base_url).rstrip("/")
    return {**share.data(), "url": f"{own}/{share.address}"}


def _whole(request: Request, name: str, usual: int) -> int:
    said = request.query_params.get(name, "")
    return max(1, int(said)) if said.isascii() and said.isdigit() and len(said) < 6 else usual
