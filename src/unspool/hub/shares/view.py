"""A share as people see it: at its address alone, behind its password if it has one, nowhere once it has ended."""

from urllib.parse import parse_qs, quote

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.asked import hub
from unspool.hub.people.pace import attempt
from unspool.hub.shares import password
from unspool.hub.shares.freshening import freshen, stale
from unspool.hub.shares.serving import ASKING, FOREVER, NEVER, given
from unspool.hub.shares.share import BUNDLE, DOCUMENT, INDEX, NOTHING, Share, file, live
from unspool.hub.shares.wish import PASSWORD, password_in
from unspool.hub.trouble import Hidden, Refused
from unspool.hub.web.render import page

TRIES, ALL_TRIES, SPAN = 10, 200, 900
"""Attempts at a password of one address of the network, and of all of them, in so many seconds."""
_PAGE = "share_password.html"
_ASSETS = "assets/"


def bare(request: Request) -> Response:
    """The address as it is passed on, led to where its pages lie."""
    share = live(hub(request).store.db, request.path_params["address"])
    return RedirectResponse(f"/{share.address}/", 308, {"Cache-Control": ASKING, **_robots(share)})


def shown(request: Request) -> Response:
    """A file of a share by its exact name; its first page where none is named."""
    the, name = hub(request), request.path_params.get("name", "") or INDEX
    share = live(the.store.db, request.path_params["address"])
    if share.password and not _admitted(request, share):
        return _asking(request, share)
    if name == DOCUMENT or (name == BUNDLE and not share.raw):
        raise Hidden(NOTHING)
    found = file(the.store.db, share.address, name)
    cache = NEVER if share.password else FOREVER if name.startswith(_ASSETS) else ASKING
    answer = given(request, the.store.blobs, found, cache, _robots(share) | _download(share, name))
    if name == INDEX and stale(the, share):
        answer.background = BackgroundTask(freshen, the, share)
    return answer


def asset(request: Request) -> Response:
    """A file of the look, which says nothing of what is shared."""
    request.path_params["name"] = _ASSETS + request.path_params["asset"]
    return shown(request)


def opened(request: Request) -> Response:
    """The password as it was typed: where it fits, the browser is let in for a while."""
    the, address = hub(request), request.path_params["address"]
    share = live(the.store.db, address)
    if not share.password:
        return RedirectResponse(f"/{address}/", 303)
    typed = _typed(request)
    if not fits(request, share, typed):
        return _asking(request, share, wrong=True)
    answer = RedirectResponse(f"/{address}/", 303, {"Cache-Control": NEVER})
    secure = the.terms.url.startswith("https://") or request.url.scheme == "https"
    answer.set_cookie(
        password.COOKIE, password.ticket(the.store.db, address, share.password), password.LASTS,
        path=f"/{address}", secure=secure, httponly=True, samesite="lax",
    )  # fmt: skip
    return answer


def document(request: Request) -> Response:
    """The session as session-share's viewers read it. Asked for by its version, it never changes."""
    the = hub(request)
    share = live(the.store.db, request.path_params["address"])
    version = request.query_params.get("version")
    if version is not None and version != str(share.version):
        raise Hidden(NOTHING)
    if share.password and not fits(request, share, password_in(request.headers) or ""):
        raise Refused(f"This share has a password; send it in the header {PASSWORD}.")
    cache = NEVER if share.password else FOREVER if version else ASKING
    found = file(the.store.db, share.address, DOCUMENT)
    return given(request, the.store.blobs, found, cache, _robots(share))


def fits(request: Request, share: Share, typed: str) -> bool:
    """Whether a password is the right one; TooMuch where that was asked too often."""
    if not typed:
        return False
    db, peer = hub(request).store.db, request.client.host if request.client else ""
    attempt(db, f"share {share.address} {peer}", TRIES, SPAN)
    attempt(db, f"share {share.address}", ALL_TRIES, SPAN)
    return password.fits(typed, share.password)


def _admitted(request: Request, share: Share) -> bool:
    shown = request.cookies.get(password.COOKIE, "")
    return password.admits(hub(request).store.db, share.address, share.password, shown)


def _typed(request: Request) -> str:
    said = parse_qs(request.state.body.decode("utf-8", "replace"), max_num_fields=10)
    typed: str = said.get("password", [""])[0]
    return typed


def _asking(request: Request, share: Share, *, wrong: bool = False) -> Response:
    """The page that asks for the password; it tells nothing else."""
    answer = page(request, "A password, please", _PAGE, address=share.address, wrong=wrong)
    answer.status_code = 403 if wrong else 401
    answer.headers.update({"Cache-Control": NEVER, "X-Robots-Tag": "noindex"})
    return answer


def _robots(share: Share) -> dict[str, str]:
    return {} if share.listed else {"X-Robots-Tag": "noindex, nofollow"}


def _download(share: Share, name: str) -> dict[str, str]:
    if name != BUNDLE:
        return {}
    plain = "".join(one if one.isalnum() or one in " ._-" else "_" for one in share.title)[:80].strip() or "session"
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(plain)}.tar.gz"}
