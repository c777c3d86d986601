"""Every address of a share: its API and its pages."""

import re
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from unspool.errors import UnspoolError
from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, Forbidden, NotVisible
from unspool.hub.people.rate_limit import check_attempts, count_attempt
from unspool.hub.routes import Hub, HubRoute, Needs, blob_response, client_address, hub, person, read_json
from unspool.hub.shares import share as shares
from unspool.hub.shares import share_store
from unspool.hub.shares.share import HubShare, ShareFile, ShareOptions, live_share
from unspool.hub.shares.upload import made_by, spool_upload
from unspool.hub.store.blobs import now
from unspool.hub.web.render import page
from unspool.hub.workers import run_in_thread

KEY = "Idempotency-Key"
_KEYS = re.compile(r"[\x21-\x7e]{16,200}")
_MOST = 200


async def upload_compatible(request: Request) -> Response:
    share = await take_upload(request, ShareOptions())
    return JSONResponse({"id": share.address})


async def upload_share(request: Request) -> Response:
    share = await take_upload(request, shares.options_of_upload(request.query_params, request.headers))
    return JSONResponse(_data(request, share), 201, {"Location": f"/{share.address}"})


async def replace_share(request: Request) -> Response:
    """Other content at the same address; a token for pushing decides nothing else of it."""
    before = await run_in_thread(live_share, hub(request).store.db, request.path_params["address"])
    options = shares.options_of_upload(request.query_params, request.headers)
    if person(request).scope != "all" and options != ShareOptions():
        raise Forbidden("This token is good for push only: it sends content, and changes no options of a share.")
    with scratch_folder() as folder:
        bundle = await spool_upload(request, folder, hub(request).terms.upload)
        upload = share_store.Upload(bundle, before.address, before.owner, options)
        share = await run_in_thread(share_store.replace_content, hub(request), upload, before)
    return JSONResponse(_data(request, share))


def list_shares(request: Request) -> Response:
    """One's own shares, the newest first, a page at a time; with `listed`, those that anybody of the hub may see."""
    limit = request.query_params.get("limit", "")
    most = min(_MOST, max(1, int(limit))) if limit.isascii() and limit.isdigit() and len(limit) < 6 else 50
    time, _, name = request.query_params.get("before", "").partition(" ")
    at = (int(time) if time.isascii() and time.isdigit() and len(time) < 16 else now() + 1, name)
    everyone = "listed" in request.query_params
    only, value = (f"listed = 1 AND {shares.LIVE}", now()) if everyone else ("owner = ?", person(request).id)
    rows = hub(request).store.db.rows(
        f"SELECT {shares.COLUMNS} FROM share WHERE {only} AND (created < ? OR created = ? AND address < ?)"  # noqa: S608
        " ORDER BY created DESC, address DESC LIMIT ?",
        value, at[0], at[0], at[1], most + 1,
    )  # fmt: skip
    found = [HubShare(*row) for row in rows]
    last = found[most - 1] if len(found) > most else None
    data = {"shares": [_data(request, one) for one in found[:most]]}
    return JSONResponse({**data, "next": f"{last.created} {last.address}" if last else None})


def get_share(request: Request) -> Response:
    return JSONResponse(_data(request, live_share(hub(request).store.db, request.path_params["address"])))


async def change_share(request: Request) -> Response:
    options = shares.options_of_change(read_json(request))
    request.state.detail = shares.told_options(options)
    share = await run_in_thread(live_share, hub(request).store.db, request.path_params["address"])
    return JSONResponse(_data(request, await run_in_thread(share_store.change_options, hub(request), share, options)))


def delete_share(request: Request) -> Response:
    if not share_store.end_share(hub(request).store.db, request.path_params["address"]):
        raise NotVisible(shares.NOTHING)
    return JSONResponse({"deleted": request.path_params["address"]})


async def take_upload(request: Request, options: ShareOptions) -> HubShare:
    the, who = hub(request), person(request)
    key = request.headers.get(KEY, "")
    if key and not _KEYS.fullmatch(key):
        raise BadRequest(f"{KEY} is a word of 16 to 200 letters, digits and marks.")
    with scratch_folder() as folder:
        bundle = await spool_upload(request, folder, the.terms.upload)
        place = await run_in_thread(shares.new_address, the.store.db, who.id, key)
        share = await run_in_thread(share_store.keep_share, the, share_store.Upload(bundle, place, who.id, options))
    request.state.target, request.state.detail = share.address, shares.told_options(options)
    return share


def _data(request: Request, share: HubShare) -> dict[str, Any]:
    own = hub(request).terms.url.rstrip("/") or str(request.base_url).rstrip("/")
    return {**share.data(), "url": f"{own}/{share.address}"}


FOREVER = "private, max-age=31536000, immutable"
"""What never changes under its address; kept by the reader's browser alone, so that what ends is gone elsewhere."""
ASKING = "private, no-cache"
"""Kept, but asked for each time whether it has changed."""
NEVER = "no-store"


def file_response(request: Request, share: HubShare, file: ShareFile, cache: str, **more: str) -> Response:
    mark = f'W/"{file.digest[:32]}"'
    headers = {"Cache-Control": cache, "ETag": mark, "Vary": "Accept-Encoding, Cookie", **_robots(share), **more}
    return blob_response(request, file.digest, file.kind, headers)


_AGAIN = 600.0
"""Seconds before it is tried once more: it may have failed, and while hubs of two versions run they would not end."""
_MOST_REMEMBERED = 10_000
_guard = threading.Lock()
_tried: dict[str, float] = {}


def is_stale(hub: Hub, share: HubShare) -> bool:
    if share.told.made == made_by(share_store.share_url(hub, share.address)):
        return False
    with _guard:
        last = _tried.get(share.address)
        if last is not None and time.monotonic() - last < _AGAIN:
            return False
        if len(_tried) > _MOST_REMEMBERED:
            _tried.clear()
        _tried[share.address] = time.monotonic()
    return True


async def remake_stale(hub: Hub, share: HubShare) -> None:
    """Make them anew, where nobody waits for it; where that fails, the older ones still show all of it."""
    with suppress(UnspoolError):
        await run_in_thread(share_store.remake_share, hub, share)


TRIES, ALL_TRIES, SPAN = 10, 200, 900
"""Wrong passwords of one address of the network, and of all of them, in so many seconds."""
_PAGE = "share_password.html"
_ASSETS = "assets/"


def redirect_to_pages(request: Request) -> Response:
    """The address as it is passed on, led to where its pages lie."""
    share = live_share(hub(request).store.db, request.path_params["address"])
    return RedirectResponse(f"/{share.address}/", 308, {"Cache-Control": ASKING, **_robots(share)})


def show_file(request: Request) -> Response:
    the, name = hub(request), request.path_params.get("name", "") or shares.INDEX
    share = live_share(the.store.db, request.path_params["address"])
    ticket = request.cookies.get(shares.COOKIE, "")
    if share.password and not shares.ticket_holds(the.store.db, share.address, share.password, ticket):
        return _asking(request, share)
    if name == shares.DOCUMENT or (name == shares.BUNDLE and not share.raw):
        raise NotVisible(shares.NOTHING)
    found = shares.share_file(the.store.db, share.address, name)
    cache = NEVER if share.password else FOREVER if name.startswith(_ASSETS) else ASKING
    headers = {"Last-Modified": formatdate(share.updated / 1000, usegmt=True)}
    if name == shares.BUNDLE:
        plain = "".join(one if one.isalnum() or one in " ._-" else "_" for one in share.title)[:80].strip() or "session"
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(plain)}.tar.gz"
    answer = file_response(request, share, found, cache, **headers)
    if name == shares.INDEX and is_stale(the, share):
        answer.background = BackgroundTask(remake_stale, the, share)
    return answer


def show_version(request: Request) -> Response:
    """How often the content of a share was replaced, and when: what its pages ask now and then; no reading of it.

    As a script, which is all that the pages of a share may load: whatever is shared in them can ask for nothing else.
    """
    the = hub(request)
    share = live_share(the.store.db, request.path_params["address"])
    ticket = request.cookies.get(shares.COOKIE, "")
    if share.password and not shares.ticket_holds(the.store.db, share.address, share.password, ticket):
        raise NotVisible(shares.NOTHING)
    headers = {"Cache-Control": NEVER if share.password else ASKING, "ETag": f'"{share.version}"', **_robots(share)}
    if headers["ETag"] == request.headers.get("if-none-match"):
        return Response(status_code=304, headers=headers)
    told = f'document.documentElement.dataset.shared = "{share.version:d} {share.updated:d}";\n'
    return Response(told, headers=headers, media_type="text/javascript")


def show_asset(request: Request) -> Response:
    """A file of the look, which says nothing of what is shared."""
    request.path_params["name"] = _ASSETS + request.path_params["asset"]
    return show_file(request)


def take_password(request: Request) -> Response:
    """The password as it was typed: where it fits, the browser is let in for a while."""
    the, address = hub(request), request.path_params["address"]
    share = live_share(the.store.db, address)
    if not share.password:
        return RedirectResponse(f"/{address}/", 303)
    form = parse_qs(request.state.body.decode("utf-8", "replace"), max_num_fields=10)
    if not check_password(request, share, form.get("password", [""])[0]):
        return _asking(request, share, wrong=True)
    answer = RedirectResponse(f"/{address}/", 303, {"Cache-Control": NEVER})
    secure = the.terms.url.startswith("https://") or request.url.scheme == "https"
    answer.set_cookie(
        shares.COOKIE, shares.issue_ticket(the.store.db, address, share.password), shares.LASTS,
        path=f"/{address}", secure=secure, httponly=True, samesite="lax",
    )  # fmt: skip
    return answer


def show_document(request: Request) -> Response:
    """The session as session-share's viewers read it. Asked for by its version, it never changes."""
    the = hub(request)
    share = live_share(the.store.db, request.path_params["address"])
    version = request.query_params.get("version")
    if version is not None and version != str(share.version):
        raise NotVisible(shares.NOTHING)
    if share.password and not check_password(request, share, shares.password_in(request.headers) or ""):
        raise Forbidden(f"This share has a password; send it in the header {shares.PASSWORD}.")
    cache = NEVER if share.password else FOREVER if version else ASKING
    found = shares.share_file(the.store.db, share.address, shares.DOCUMENT)
    return file_response(request, share, found, cache)


def check_password(request: Request, share: HubShare, typed: str) -> bool:
    """Whether a password is the right one; TooManyRequests where a wrong one was tried too often."""
    if not typed:
        return False
    db, peer = hub(request).store.db, client_address(request, hub(request).terms)
    limits = ((f"share {share.address} {peer}", TRIES), (f"share {share.address}", ALL_TRIES))
    for who, most in limits:
        check_attempts(db, who, most, SPAN)
    if shares.password_fits(typed, share.password):
        return True
    for who, most in limits:
        count_attempt(db, who, most, SPAN)
    return False


def _asking(request: Request, share: HubShare, *, wrong: bool = False) -> Response:
    """The page that asks for the password; it tells nothing else."""
    status = 403 if wrong else 401
    answer = page(request, "A password, please", _PAGE, status=status, address=share.address, wrong=wrong)
    answer.headers.update({"Cache-Control": NEVER, "X-Robots-Tag": "noindex"})
    return answer


def _robots(share: HubShare) -> dict[str, str]:
    return {} if share.listed else {"X-Robots-Tag": "noindex, nofollow"}


_CHANGES = ("all",)
_SENDS = ("all", "push")

ROUTES = (
    HubRoute("/api/sessions", upload_compatible, Needs.SHARING, "share.create", "POST", _SENDS, body=0),
    HubRoute("/api/sessions/{address}", show_document, Needs.NOTHING, "share.read"),
    HubRoute("/api/shares", upload_share, Needs.SHARING, "share.create", "POST", _SENDS, body=0),
    HubRoute("/api/shares", list_shares, Needs.PERSON),
    HubRoute("/api/shares/{address}", get_share, Needs.MINE),
    HubRoute("/api/shares/{address}", replace_share, Needs.MINE, "share.update", "PUT", _SENDS, body=0),
    HubRoute("/api/shares/{address}", change_share, Needs.MINE, "share.change", "PATCH", _CHANGES),
    HubRoute("/api/shares/{address}", delete_share, Needs.MINE, "share.delete", "DELETE", _CHANGES),
    HubRoute("/{address}", redirect_to_pages, Needs.NOTHING),
    HubRoute("/{address}/", show_file, Needs.NOTHING, "share.read"),
    HubRoute("/{address}/", take_password, Needs.NOTHING, "share.open", "POST", body=8 * 1024),
    HubRoute("/{address}/assets/{asset}", show_asset, Needs.NOTHING),
    HubRoute("/{address}/version.js", show_version, Needs.NOTHING),
    HubRoute("/{address}/{name:path}", show_file, Needs.NOTHING, "share.read"),
)
