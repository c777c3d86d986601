"""Sessions shown to others through a hub: sent, listed, changed, removed."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from unspool.errors import FetchFailed, UsageProblem
from unspool.hub_client.client import HubClient, UploadBody

_KIND = "application/gzip"


class UploadOptions(NamedTuple):
    """How something is to be shared; None: as it is, or as is usual."""

    title: str | None = None
    password: str | None = None
    """Empty for none."""
    expires: str | None = None
    """7d, 12h, a time, or never."""
    raw: bool | None = None
    listed: bool | None = None

    def said(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class UploadedShare(msgspec.Struct, frozen=True):
    """A share, as its hub tells its owner."""

    address: str
    url: str
    title: str = ""
    state: str = "live"
    description: str = ""
    version: int = 1
    size: int = 0
    password: bool = False
    raw: bool = False
    listed: bool = False
    created: int = 0
    updated: int = 0
    expires: int | None = None


def upload_share(client: HubClient, bundle: Path, options: UploadOptions, update: str = "") -> UploadedShare:
    """Share a bundle, at a new address or in place of what an address shows. Trying again makes no second one."""
    said = options.said()
    password = said.pop("password", None)
    query = {name: value if isinstance(value, str) else str(int(value)) for name, value in said.items()}
    headers = {"Idempotency-Key": secrets.token_urlsafe(24)}
    if password is not None:
        headers["Share-Password"] = quote(password, safe="")
    path = f"/api/shares/{share_name(update)}" if update else "/api/shares"
    where = f"{path}?{urlencode(query)}" if query else path
    answer = client.send("PUT" if update else "POST", where, UploadBody(bundle, _KIND), headers)
    return _shared(answer.json())


def list_shares(client: HubClient) -> Iterator[UploadedShare]:
    """One's own shares, the newest first."""
    where = "/api/shares"
    while True:
        page = client.ask("GET", where)
        if not isinstance(page, dict) or not isinstance(page.get("shares"), list):
            raise FetchFailed(f"{client.url} does not answer as a hub does.")
        yield from (_shared(one) for one in page["shares"])
        if not page.get("next"):
            return
        where = f"/api/shares?{urlencode({'before': str(page['next'])})}"


def change_share(client: HubClient, address: str, options: UploadOptions) -> UploadedShare:
    """Have a share be otherwise."""
    return _shared(client.ask("PATCH", f"/api/shares/{share_name(address)}", options.said()))


def delete_share(client: HubClient, address: str) -> None:
    client.ask("DELETE", f"/api/shares/{share_name(address)}")


def share_name(text: str) -> str:
    """The address of a share in what a person gave: by itself, or as the end of a link."""
    name = urlsplit(text).path.strip("/").rpartition("/")[2] if "/" in text else text
    if not name or not all(letter.isalnum() or letter in "-_" for letter in name) or not name.isascii():
        raise UsageProblem(f"“{text}” is no address of a share; one is the end of its link.")
    return name


def _shared(data: Any) -> UploadedShare:
    try:
        return msgspec.convert(data, UploadedShare)
    except msgspec.ValidationError:
        raise FetchFailed("The hub does not answer as one does.") from None
