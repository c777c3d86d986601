"""Sign-in, sign-out, invitations, and the parsing of forms."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.auth import COOKIE
from unspool.hub.context import hub
from unspool.hub.errors import BadRequest, HubError, NotVisible
from unspool.hub.people import invitations, tokens
from unspool.hub.people.rate_limit import count_attempt
from unspool.hub.store.blobs import DAY, now
from unspool.hub.web.render import page

_MOST = 100


def form_fields(request: Request) -> dict[str, str]:
    """The fields of a form, which the door has read; of several with one name, the last."""
    try:
        found = parse_qs(request.state.body.decode(), keep_blank_values=True, max_num_fields=_MOST)
    except ValueError:
        raise BadRequest("This form was not sent by a page of the hub.") from None
    return {name: values[-1].strip() for name, values in found.items()}


def redirect(place: str) -> RedirectResponse:
    """On to another page, which is asked for anew."""
    return RedirectResponse(place, 303)


_TRIES = 20
"""Of one address in a quarter of an hour."""
_QUARTER = 900
_WRONG = "This token lets nobody in. Tokens begin with uns_; they can be revoked, and they can expire."


def sign_in_page(request: Request) -> Response:
    """The form that asks for a token."""
    return page(request, "Sign in", "sign_in.html", wrong="")


def sign_in(request: Request) -> Response:
    """A browser let in, for a month."""
    db, token = hub(request).store.db, form_fields(request).get("token", "")
    who = tokens.person_of_token(db, token)
    if who is None:
        _failed(request)
        answer = page(request, "Sign in", "sign_in.html", wrong=_WRONG)
        answer.status_code = 401
        return answer
    request.state.target = who.id
    wish = tokens.NewTokenOptions(
        who.id, "browser", "browser", who.scope, tokens.session_end(db, token, now() + tokens.BROWSER * DAY)
    )
    return _let_in(request, tokens.create_token(db, wish))


def sign_out(request: Request) -> Response:
    """A browser that is let in no more."""
    db = hub(request).store.db
    db.run("UPDATE token SET ended = ? WHERE digest = ?", now(), tokens.token_digest(request.cookies.get(COOKIE, "")))
    answer = redirect("/")
    answer.delete_cookie(COOKIE, path="/")
    return answer


def invitation_page(request: Request) -> Response:
    offer = invitations.open_invitation(hub(request).store.db, request.path_params["secret"])
    return page(request, "Join", "join.html", offer=offer, wrong="")


def join(request: Request) -> Response:
    db, secret = hub(request).store.db, request.path_params["secret"]
    try:
        offer = invitations.open_invitation(db, secret)
    except NotVisible:
        _failed(request)
        raise
    try:
        invitations.check_nameable(hub(request).terms.header, offer)
        taken = invitations.accept_invitation(db, secret, form_fields(request).get("name", ""), "browser")
    except HubError as error:
        answer = page(request, "Join", "join.html", offer=offer, wrong=str(error))
        answer.status_code = error.status
        return answer
    request.state.target = taken.person
    return _let_in(request, taken.secret)


def _failed(request: Request) -> None:
    """Count a secret that fits nothing; one that does is let in, whatever others tried from the same address."""
    peer = request.client.host if request.client else ""
    count_attempt(hub(request).store.db, f"address {peer}", _TRIES, _QUARTER)


def _let_in(request: Request, secret: str) -> RedirectResponse:
    answer = redirect("/")
    secure = hub(request).terms.url.startswith("https:") or request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, tokens.BROWSER * 86_400, path="/", secure=secure, httponly=True, samesite="lax")
    return answer
