"""Claude's web sessions over HTTP, as its own program asks for them; undocumented, so every answer is doubted.

Transcripts come page by page from the newer events address; where the service does not know it, from the older
ingress address. The token is sent to the one host that was named: redirects are not followed.
"""

from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from unspool.errors import FetchFailed, NotFound
from unspool.formats.claude_code.values import items, mapping, moment, text
from unspool.formats.remote import Account, RemoteSession
from unspool.formats.wire import Status, checked, get

BASE = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_BETA = "ccr-byoc-2025-07-29"
_PAGE = 1000
_PAGES = 1000
_Shape = TypeVar("_Shape")


class _Page(msgspec.Struct):
    """One page of a list, whichever of the two ways it tells of the next."""

    data: list[msgspec.Raw]
    next_cursor: str | None = None
    has_more: bool = False
    last_id: str | None = None


class _Event(msgspec.Struct):
    payload: msgspec.Raw = msgspec.Raw(b"null")


class _Ingress(msgspec.Struct):
    loglines: list[msgspec.Raw]


class Api:
    """The service, for one account."""

    def __init__(self, account: Account) -> None:
        self._base = checked(account.base or BASE)
        self._headers = {
            "Authorization": f"Bearer {account.token}",
            "x-organization-uuid": account.organization,
            "anthropic-version": _VERSION,
            "anthropic-beta": _BETA,
            "Accept": "application/json",
            "User-Agent": "unspool",
        }

    def sessions(self) -> Iterator[RemoteSession]:
        """Every session the account may see."""
        try:
            for item in self._listed("/v1/sessions", "after_id"):
                yield _session(item)
        except Status as answer:
            _refused(answer.code, "the list of sessions")

    def log(self, session: str) -> bytes:
        """The session's entries as JSON lines."""
        name = quote(session, safe="")
        try:
            found = self._entries(name)
        except Status as answer:
            _refused(answer.code, f"session {session}")
        if not found:
            raise NotFound(f"The service holds no entries of session {session}.")
        return b"".join(line + b"\n" for line in found)

    def _entries(self, name: str) -> list[bytes]:
        try:
            events = list(self._listed(f"/v1/code/sessions/{name}/teleport-events", "cursor", limit=_PAGE))
        except Status as answer:
            if answer.code not in (400, 404, 405, 410):
                raise
            return [bytes(line) for line in self._asked(f"/v1/session_ingress/session/{name}", _Ingress).loglines]
        return [payload for event in events if (payload := _payload(event))]

    def _listed(self, path: str, cursor_name: str, **query: object) -> Iterator[bytes]:
        """The items of every page."""
        cursor = ""
        for _ in range(_PAGES):
            given = {**query, **({cursor_name: cursor} if cursor else {})}
            page = self._asked(f"{path}?{urlencode(given)}" if given else path, _Page)
            yield from map(bytes, page.data)
            following = page.next_cursor or (page.last_id if page.has_more else "") or ""
            if not following or following == cursor:
                return
            cursor = following
        raise FetchFailed(f"{self._base}{path} gives more than {_PAGES} pages; something is wrong with it.")

    def _asked(self, path: str, shape: type[_Shape]) -> _Shape:
        data = get(self._base + path, self._headers)
        try:
            return msgspec.json.decode(data, type=shape)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise FetchFailed(
                f"{self._base}{path.partition('?')[0]} answered something else than expected ({error}): the service "
                "has changed since this version of unspool; a newer one may know it."
            ) from None


_ANSWERS = {
    401: "The token is not accepted (401): it has expired or belongs to something else. Sign in to Claude Code again, "
    "or give a fresh one with --token.",
    403: "The account may not see {what} (403): check that token and organisation belong together (--org-uuid).",
    404: "The service knows nothing of {what} (404).",
    429: "The service asks for a pause (429); try again in a minute.",
}


def _refused(code: int, what: str) -> NoReturn:
    """Say what an answer means."""
    if code in _ANSWERS:
        raise (NotFound if code == 404 else FetchFailed)(_ANSWERS[code].format(what=what))
    if code >= 500:
        raise FetchFailed(f"The service failed while giving {what} ({code}); try again later.")
    raise FetchFailed(
        f"The service answered {code} when asked for {what}: it has changed since this version of unspool; "
        "a newer one may know it."
    )


def _payload(event: bytes) -> bytes:
    """The entry inside an event; nothing where the event has none."""
    try:
        inner = bytes(msgspec.json.decode(event, type=_Event).payload)
    except msgspec.DecodeError:
        return event
    return b"" if inner == b"null" else inner


def _session(item: bytes) -> RemoteSession:
    data = msgspec.json.decode(item)
    if not isinstance(data, dict) or not text(data.get("id")):
        raise FetchFailed("The list of sessions holds something that is no session: the service has changed.")
    return RemoteSession(
        text(data["id"]),
        text(data.get("title")),
        _repository(data.get("session_context")),
        moment(data.get("created_at")),
        moment(data.get("updated_at")),
        text(data.get("session_status")),
    )


def _repository(context: Any) -> str:
    """owner/name: of what the session pushed to, else of what it was started from."""
    known = mapping(context)
    for outcome in items(known.get("outcomes")):
        if found := text(mapping(mapping(outcome).get("git_info")).get("repo")):
            return found
    for source in items(known.get("sources")):
        if address := text(mapping(source).get("url")).removesuffix("/").removesuffix(".git"):
            return address.removeprefix("https://github.com/")
    return ""
