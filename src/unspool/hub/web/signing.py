"""Coming in and going: by a token, by an invitation."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.asked import hub
from unspool.hub.door import COOKIE
from unspool.hub.people import invitations, tokens
from unspool.hub.people.pace import attempt
from unspool.hub.store.blobs import DAY, now
from unspool.hub.trouble import Hidden, HubError
from unspool.hub.web.forms import fields, onward
from unspool.hub.web.render import page

_TRIES = 20
"""Of one address in a quarter of an hour."""
_QUARTER = 900
_WRONG = "This token lets nobody in. Tokens begin with uns_; they can be revoked, and they can expire."


def asked(request: Request) -> Response:
    """The form that asks for a token."""
    return page(request, "Sign in", "sign_in.html", wrong="")


def signed_in(request: Request) -> Response:
    """A browser let in, for a month."""
    db, token = hub(request).store.db, fields(request).get("token", "")
    who = tokens.bearer(db, token)
    if who is None:
        _failed(request)
        answer = page(request, "Sign in", "sign_in.html", wrong=_WRONG)
        answer.status_code = 401
        return answer
    request.state.target = who.id
    wish = tokens.Wish(who.id, "browser", "browser", who.scope, tokens.until(db, token, now() + tokens.BROWSER * DAY))
    return _let_in(request, tokens.made(db, wish))


def signed_out(request: Request) -> Response:
    """A browser that is let in no more."""
    db = hub(request).store.db
    db.run("UPDATE token SET ended = ? WHERE digest = ?", now(), tokens.digest(request.cookies.get(COOKIE, "")))
    answer = onward("/")
    answer.delete_cookie(COOKIE, path="/")
    return answer


def invited(request: Request) -> Response:
    """What an invitation offers."""
    offer = invitations.opened(hub(request).store.db, request.path_params["secret"])
    return page(request, "Join", "join.html", offer=offer, wrong="")


def joined(request: Request) -> Response:
    """Somebody new, let in."""
    db, secret = hub(request).store.db, request.path_params["secret"]
    try:
        offer = invitations.opened(db, secret)
    except Hidden:
        _failed(request)
        raise
    try:
        invitations.nameable(hub(request).terms.header, offer)
        taken = invitations.taken(db, secret, fields(request).get("name", ""), "browser")
    except HubError as error:
        answer = page(request, "Join", "join.html", offer=offer, wrong=str(error))
        answer.status_code = error.status
        return answer
    request.state.target = taken.person
    return _let_in(request, taken.secret)


def _failed(request: Request) -> None:
    """Count a secret that fits nothing; one that does is let in, whatever others tried from the same address."""
    peer = request.client.host if request.client else ""
    attempt(hub(request).store.db, f"address {peer}", _TRIES, _QUARTER)


def _let_in(request: Request, secret: str) -> RedirectResponse:
    answer = onward("/")
    secure = hub(request).terms.url.startswith("https:") or request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, tokens.BROWSER * 86_400, path="/", secure=secure, httponly=True, samesite="lax")
    return answer
