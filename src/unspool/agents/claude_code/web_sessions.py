"""Sessions that Claude keeps on the web: the account, and the service over HTTP."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from unspool.agents.claude_code.discover import roots
from unspool.agents.values import items, mapping, moment, text
from unspool.agents.web_sessions import RemoteSession, WebAccount
from unspool.errors import FetchFailed, NotFound, UsageProblem
from unspool.http import HttpStatusError, checked_address, get

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


class ClaudeWebApi:
    """The service, for one account."""

    def __init__(self, account: WebAccount) -> None:
        self._base = checked_address(account.base or BASE)
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
        except HttpStatusError as answer:
            _refused(answer.code, "the list of sessions")

    def log(self, session: str) -> bytes:
        """The session's entries as JSON lines."""
        name = quote(session, safe="")
        try:
            found = self._entries(name)
        except HttpStatusError as answer:
            _refused(answer.code, f"session {session}")
        if not found:
            raise NotFound(f"The service holds no entries of session {session}.")
        return b"".join(line + b"\n" for line in found)

    def _entries(self, name: str) -> list[bytes]:
        try:
            events = list(self._listed(f"/v1/code/sessions/{name}/teleport-events", "cursor", limit=_PAGE))
        except HttpStatusError as answer:
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


_ITEM = "Claude Code-credentials"
_ASKING = 120
"""Seconds: the keychain may ask the user first."""


def complete_account(account: WebAccount) -> WebAccount:
    """The account with what was missing; UsageProblem says how to give what cannot be found."""
    token = account.token or _environment("UNSPOOL_WEB_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN") or _signed_in()
    if not token:
        raise UsageProblem(
            "No access token: give --token, set UNSPOOL_WEB_TOKEN, or sign in to Claude Code on this machine "
            "so that its keychain item or .credentials.json can be read."
        )
    organization = account.organization or _environment("UNSPOOL_WEB_ORGANIZATION") or _organization()
    if not organization:
        raise UsageProblem(
            "No organisation: give --org-uuid, set UNSPOOL_WEB_ORGANIZATION, or sign in to Claude Code "
            "so that .claude.json names it."
        )
    base = account.base or _environment("UNSPOOL_WEB_URL")
    return WebAccount(_one_line(token, "token"), _one_line(organization, "organisation"), base)


def _environment(*names: str) -> str:
    return next((found for name in names if (found := os.environ.get(name, "").strip())), "")


def _one_line(value: str, what: str) -> str:
    """What goes into a header must not end it."""
    if not value.isprintable() or not value.isascii():
        raise UsageProblem(f"The {what} holds characters that no {what} has.")
    return value


def _signed_in() -> str:
    """The token that the agent keeps since somebody signed in: on a Mac in the keychain, elsewhere in a file."""
    keys = ("claudeAiOauth", "accessToken")
    files = (root / ".credentials.json" for root in roots(os.environ, Path.home()))
    return _keychain(*keys) or next((found for file in files if (found := _in_file(file, *keys))), "")


def _keychain(*keys: str) -> str:
    program = shutil.which("security")
    if program is None:
        return ""
    command = [program, "find-generic-password", "-s", _ITEM, "-w"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ASKING, check=False)  # noqa: S603  a fixed command
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return _within(done.stdout, *keys) if done.returncode == 0 else ""


def _organization() -> str:
    folders = [Path(part) for part in (os.environ.get("CLAUDE_CONFIG_DIR", ""),) if part]
    files = (folder / ".claude.json" for folder in (*folders, Path.home()))
    return next((found for file in files if (found := _in_file(file, "oauthAccount", "organizationUuid"))), "")


def _in_file(path: Path, *keys: str) -> str:
    try:
        return _within(path.read_bytes(), *keys)
    except OSError:
        return ""


def _within(data: bytes, *keys: str) -> str:
    """The text under these keys; empty where the data is anything else."""
    try:
        value: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return text(value).strip()
