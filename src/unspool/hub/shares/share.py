"""A share: its facts, its options and its password."""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, get_setting
from unspool.hub_client.client import SHORTEST_PASSWORD

_SETTING = "secret"


def sign(db: Database, *words: str) -> bytes:
    """What only this hub can say of some words; 32 bytes."""
    if get_setting(db, _SETTING) is None:
        made = secrets.token_hex(32)
        db.run("INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO NOTHING", _SETTING, made)
    secret = bytes.fromhex(get_setting(db, _SETTING) or "")
    text = "\0".join(f"{len(word)} {word}" for word in words)
    return hmac.new(secret, text.encode("utf-8", "replace"), sha256).digest()


def new_address(db: Database, owner: str, key: str) -> str:
    """The address of a new share, of 128 bits: by chance, or where a key came along, the same for the same one.

    A client that does not know whether an upload arrived sends it again with its key, and nothing is there twice.
    """
    drawn = sign(db, "address", owner, key)[:16] if key else secrets.token_bytes(16)
    made = urlsafe_b64encode(drawn).decode().rstrip("=")
    return f"_{made[1:]}" if made[0] == "-" else made  # commands would take it for an option


COOKIE = "unspool-share"
LASTS = 12 * 3600
"""Seconds for which a browser is not asked again."""
_COST, _BLOCK = 2**14, 8


def hash_password(password: str) -> str:
    """What is kept of a password; empty for none."""
    if not password:
        return ""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_slow(password, salt).hex()}"


def password_fits(password: str, kept: str) -> bool:
    salt, _, digest = kept.partition("$")
    return hmac.compare_digest(_slow(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def issue_ticket(db: Database, address: str, kept: str) -> str:
    """What a browser shows instead of the password, for this share, until its time or the password ends."""
    until = str(now() // 1000 + LASTS)
    return f"{until}.{_mark(db, address, kept, until)}"


def ticket_holds(db: Database, address: str, kept: str, shown: str) -> bool:
    until, _, mark = shown.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 15 and mark.isascii()):
        return False
    return int(until) * 1000 > now() and hmac.compare_digest(mark, _mark(db, address, kept, until))


def _mark(db: Database, address: str, kept: str, until: str) -> str:
    return sign(db, "ticket", address, kept, until).hex()


def _slow(password: str, salt: bytes) -> bytes:
    data = password.encode("utf-8", "replace")
    return hashlib.scrypt(data, salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=64 * 1024**2, dklen=32)


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
    """The options of an upload: they stand behind `?`, the password in a header, which nobody writes to a log."""
    title, password = _title(query.get("title")), new_password(password_in(headers))
    return ShareOptions(title, password, _expires(query.get("expires")), _truth(query, "raw"), _truth(query, "listed"))


def password_in(headers: Mapping[str, str]) -> str | None:
    """The password that came along, in which letters beyond ASCII and `%` are written as an address has them."""
    given = headers.get(PASSWORD)
    return None if given is None else unquote(given)


def options_of_change(data: Any) -> ShareOptions:
    """The options of a change: a JSON object with what is to change."""
    if not isinstance(data, dict) or (unknown := set(data) - set(ShareOptions.__struct_fields__)):
        names = ", ".join(ShareOptions.__struct_fields__)
        extra = f"; not {', '.join(sorted(map(str, unknown))[:5])}" if isinstance(data, dict) else ""
        raise BadRequest(f"A change is a JSON object with some of {names}{extra}.")
    truths = {name: _given(data, name, bool) for name in ("raw", "listed")}
    expires = data.get("expires", "")
    ends = None if "expires" not in data else 0 if expires is None else _expires(str(expires)[:40])
    return ShareOptions(_title(_given(data, "title", str)), new_password(_given(data, "password", str)), ends, **truths)


def options_of_form(form: Mapping[str, str]) -> ShareOptions:
    """What a form asks for; a field that is left as it is asks for nothing."""
    given: dict[str, Any] = {"raw": form.get("raw") == "1", "listed": form.get("listed") == "1"}
    if form.get("password"):
        given["password"] = new_password(form["password"])
    if form.get("open") == "1":
        given["password"] = ""
    if form.get("expires"):
        given["expires"] = _expires(form["expires"])
    return ShareOptions(**given)


def told_options(options: ShareOptions) -> dict[str, str | int]:
    """What of them the audit log tells: never the title, and of a password only whether there is one."""
    ticks = (("raw", options.raw), ("listed", options.listed))
    told: dict[str, str | int] = {name: int(value) for name, value in ticks if value is not None}
    if options.password is not None:
        told["password"] = int(bool(options.password))
    return told if options.expires is None else {**told, "expires": options.expires}


def _given(data: dict[str, Any], name: str, kind: type) -> Any:
    value = data.get(name)
    if value is not None and type(value) is not kind:
        raise BadRequest(f"“{name}” is of another type.")
    return value


def _title(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())[:_TITLE]


def new_password(text: str | None) -> str | None:
    """A password as it is given to a share; an empty one is none. Those of before may be shorter."""
    if text and not SHORTEST_PASSWORD <= len(text) <= _WORDS:
        raise BadRequest(f"A password has {SHORTEST_PASSWORD} characters or more, and no more than {_WORDS:,}.")
    return text


def _truth(query: Mapping[str, str], name: str) -> bool | None:
    given = query.get(name)
    if given is None:
        return None
    if given.lower() not in (*_TRUE, *_FALSE):
        raise BadRequest(f"“{name}” is yes or no.")
    return given.lower() in _TRUE


def _expires(text: str | None) -> int | None:
    """A moment: after a span such as 7d, at a time such as 2030-01-31T12:00Z, or never."""
    if text is None:
        return None
    if text.lower() in ("", "never"):
        return 0
    span = _SPAN.fullmatch(text)
    if span:
        moment = now() + int(span[1]) * _UNITS[span[2]] * 1000
    elif text.isascii() and text.isdigit() and len(text) < _DIGITS:
        moment = int(text)
    else:
        try:
            given = datetime.fromisoformat(text[: _DIGITS * 2])
        except ValueError:
            raise BadRequest(
                "A share ends after 30m, 12h, 7d or 4w, at a time like 2030-01-31T12:00Z, or never."
            ) from None
        moment = int((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1000)
    if not now() < moment <= now() + _LONGEST * 1000:
        raise BadRequest("A share ends at some time within the next ten years, or never.")
    return moment


NOTHING = "There is nothing at this address."
BUNDLE, DOCUMENT, INDEX = "bundle.tar.gz", "session-share.json", "index.html"
_ADDRESS = re.compile(r"[A-Za-z0-9_-]{22}")


class ShareFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    description: str = ""
    """What the session adds up to, on a line."""
    agent: str = ""
    session: str = ""
    started: str = ""
    turns: int = 0
    own_title: bool = False
    """Whether its title was given by whoever shared it, and not by the session."""
    made: str = ""
    """What its pages were made by."""


class HubShare(NamedTuple):
    address: str
    owner: str
    title: str
    password: str
    raw: int
    listed: int
    version: int
    size: int
    facts: str
    created: int
    updated: int
    expires: int | None
    ended: int | None

    @property
    def told(self) -> ShareFacts:
        return msgspec.json.decode(self.facts or "{}", type=ShareFacts)

    @property
    def state(self) -> str:
        if self.expires is not None and self.expires <= (self.ended or now()):
            return "expired"
        return "live" if self.ended is None else "deleted"

    def data(self) -> dict[str, Any]:
        names = ("address", "title", "version", "size", "created", "updated", "expires")
        return {
            **{name: getattr(self, name) for name in names},
            **{name: bool(getattr(self, name)) for name in ("password", "raw", "listed")},
            "state": self.state,
            "description": self.told.description,
            "session": self.told.session,
        }


class ShareFile(NamedTuple):
    name: str
    digest: str
    kind: str


COLUMNS = ", ".join(HubShare._fields)
LIVE = "ended IS NULL AND (expires IS NULL OR expires > ?)"
"""What is shown; the value is the time."""


def live_share(db: Database, address: str) -> HubShare:
    """What is shown at an address; NotVisible where there is nothing, never was, or is no more."""
    if not _ADDRESS.fullmatch(address):
        raise NotVisible(NOTHING)
    found = db.row(f"SELECT {COLUMNS} FROM share WHERE address = ? AND {LIVE}", address, now())  # noqa: S608
    if found is None:
        raise NotVisible(NOTHING)
    return HubShare(*found)


def any_share(db: Database, address: str) -> HubShare | None:
    found = db.row(f"SELECT {COLUMNS} FROM share WHERE address = ?", address)  # noqa: S608
    return HubShare(*found) if found is not None else None


def share_file(db: Database, address: str, name: str) -> ShareFile:
    found = db.row("SELECT name, digest, kind FROM share_file WHERE address = ? AND name = ?", address, name)
    if found is None:
        raise NotVisible(NOTHING)
    return ShareFile(*found)
