"""How a share is to be: what its owner may say when it is made, and change later."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import msgspec

from unspool.hub.errors import BadRequest
from unspool.hub.store.blobs import now

PASSWORD = "Share-Password"  # noqa: S105  the name of a header
_SPAN = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_TITLE, _WORDS, _LONGEST = 300, 1000, 10 * 366 * 86400
_DIGITS = 18
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class ShareOptions(msgspec.Struct, frozen=True):
    """None: as it was, or as is usual. An empty title is the session's own, an empty password none."""

    title: str | None = None
    password: str | None = None
    expires: int | None = None
    """When it ends; 0 for never."""
    raw: bool | None = None
    listed: bool | None = None


def options_of_upload(query: Mapping[str, str], headers: Mapping[str, str]) -> ShareOptions:
    """The wish of an upload: its options behind `?`, the password in a header, which nobody writes to a log."""
    return ShareOptions(
        _title(query.get("title")),
        _password(password_in(headers)),
        _expires(query.get("expires")),
        _truth(query, "raw"),
        _truth(query, "listed"),
    )


def password_in(headers: Mapping[str, str]) -> str | None:
    """The password that came along, in which letters beyond ASCII and `%` are written as an address has them."""
    said = headers.get(PASSWORD)
    return None if said is None else unquote(said)


def options_of_change(data: Any) -> ShareOptions:
    """The wish of a change: a JSON object with what is to be otherwise."""
    if not isinstance(data, dict) or (unknown := set(data) - set(ShareOptions.__struct_fields__)):
        names = ", ".join(ShareOptions.__struct_fields__)
        extra = f"; not {', '.join(sorted(map(str, unknown))[:5])}" if isinstance(data, dict) else ""
        raise BadRequest(f"A change is a JSON object with some of {names}{extra}.")
    truths = {name: _given(data, name, bool) for name in ("raw", "listed")}
    expires = data.get("expires", "")
    ends = None if "expires" not in data else 0 if expires is None else _expires(str(expires)[:40])
    return ShareOptions(_title(_given(data, "title", str)), _password(_given(data, "password", str)), ends, **truths)


def _given(data: dict[str, Any], name: str, kind: type) -> Any:
    value = data.get(name)
    if value is not None and type(value) is not kind:
        raise BadRequest(f"“{name}” is of another type.")
    return value


def _title(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:_TITLE]


def _password(text: str | None) -> str | None:
    if text is not None and len(text) > _WORDS:
        raise BadRequest(f"A password has no more than {_WORDS} letters.")
    return text


def _truth(query: Mapping[str, str], name: str) -> bool | None:
    said = query.get(name)
    if said is None:
        return None
    if said.lower() not in (*_TRUE, *_FALSE):
        raise BadRequest(f"“{name}” is yes or no.")
    return said.lower() in _TRUE


def _expires(text: str | None) -> int | None:
    """A moment: after a span such as 7d, at a time such as 2030-01-31T12:00Z, or never."""
    if text is None:
        return None
    if text.lower() in ("", "never"):
        return 0
    span = _SPAN.fullmatch(text)
    moment = now() + int(span[1]) * _UNITS[span[2]] * 1000 if span else _moment(text)
    if not now() < moment <= now() + _LONGEST * 1000:
        raise BadRequest("A share ends at some time within the next ten years, or never.")
    return moment


def _moment(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < _DIGITS:
        return int(text)
    try:
        said = datetime.fromisoformat(text[: _DIGITS * 2])
    except ValueError:
        raise BadRequest("A share ends after 30m, 12h, 7d or 4w, at a time like 2030-01-31T12:00Z, or never.") from None
    return int((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp() * 1000)
