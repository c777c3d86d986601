"""Addresses and tokens of the hubs a person is signed in to, and the folders whose sessions go to their projects."""

import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from unspool.errors import NotAllowed, Unreadable, UsageProblem
from unspool.files import write_atomically

_PORTS = {"http": 80, "https": 443}
_Loaded = TypeVar("_Loaded")


class HubAddress(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str
    """In front of every address of the hub; empty, or one that begins with a slash and ends with none."""

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def private(self) -> bool:
        """Whether what is sent there can be read by nobody on the way."""
        if self.scheme == "https" or self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(url: str) -> HubAddress:
    """An address as it was typed; https is meant where nothing else is said. UsageProblem where it is none."""
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageProblem(f"“{url}” is no address of a hub.") from None
    if parts.scheme not in _PORTS or not host or not text.isprintable() or " " in text:
        raise UsageProblem(f"“{url}” is no address of a hub; one looks like https://hub.example.")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageProblem("The address of a hub has no name, question or fragment in it.")
    return HubAddress(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))


FILE = "hubs.json"
HUB, TOKEN = "UNSPOOL_HUB", "UNSPOOL_HUB_TOKEN"
"""What the environment may say in place of the file."""


class HubEntry(msgspec.Struct, frozen=True):
    token: str
    name: str = ""
    """Who they are there."""
    insecure: bool = False
    """Whether the token may go to it where others can read it."""


class KnownHubs(msgspec.Struct, frozen=True):
    """All of them, by address; `usual` is the one that is meant where none is named."""

    usual: str = ""
    hubs: dict[str, HubEntry] = msgspec.field(default_factory=dict)


class HubLogin(msgspec.Struct, frozen=True):
    """A hub and what lets one in; the token is empty where nobody is signed in."""

    address: HubAddress
    entry: HubEntry


def load_hubs(folder: Path) -> KnownHubs:
    """The hubs of the file; none where there is no file. Unreadable where it is something else."""
    return _load(folder / FILE, KnownHubs, "sign in again")


def _load(path: Path, kind: type[_Loaded], remedy: str) -> _Loaded:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return kind()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}. Remove it, and {remedy}.") from None


def _save(path: Path, data: object) -> None:
    write_atomically(path, [msgspec.json.format(msgspec.json.encode(data, order="sorted")), b"\n"])


def save_login(folder: Path, address: HubAddress, entry: HubEntry) -> None:
    """Remember a hub's token; the hub is the usual one from now on."""
    hubs = load_hubs(folder).hubs | {address.url: entry}
    _save(folder / FILE, KnownHubs(address.url, hubs))


def forget_login(folder: Path, url: str = "") -> list[str]:
    """Forget one hub's token, or all of them; the addresses that were forgotten."""
    there = load_hubs(folder)
    gone = [parse_address(url).url] if url else list(there.hubs)
    left = {name: entry for name, entry in there.hubs.items() if name not in gone}
    usual = there.usual if there.usual in left else next(iter(left), "")
    if left:
        _save(folder / FILE, KnownHubs(usual, left))
    else:
        (folder / FILE).unlink(missing_ok=True)
    return [name for name in gone if name in there.hubs]


def choose_hub(folder: Path, url: str = "", environment: Mapping[str, str] | None = None) -> HubLogin:
    """The hub that is meant: the one named, the environment's, or the usual one; with its token.

    UsageProblem where there is none. A token of the environment goes to the hub that the environment or the user names,
    and to no other.
    """
    variables = os.environ if environment is None else environment
    there = load_hubs(folder)
    named = url or variables.get(HUB, "") or there.usual
    if not named:
        raise UsageProblem(f"No hub is known: name one, set {HUB}, or sign in with `unspool login URL`.")
    address = parse_address(named)
    entry = there.hubs.get(address.url, HubEntry(""))
    if token := variables.get(TOKEN, "").strip():
        entry = msgspec.structs.replace(entry, token=token)
    return HubLogin(address, entry)


def require_login(login: HubLogin) -> HubLogin:
    """The same, where somebody is signed in; NotAllowed elsewhere."""
    if not login.entry.token:
        raise NotAllowed(f"Nobody is signed in to {login.address.url}: `unspool login {login.address.url}`.")
    return login


def check_token(token: str) -> str:
    """A token as it was typed or read; UsageProblem where it cannot be one."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageProblem("That is no token: one is a single word of letters, digits and marks.")
    return token


_FILE = "chosen.json"

Folders = dict[str, list[str]]
"""By project, the folders whose sessions go there."""


def chosen_folders(folder: Path, hub: str) -> Folders:
    return _all(folder).get(hub, {})


def choose_folder(folder: Path, hub: str, project: str, place: str) -> None:
    """Have the sessions of a folder go to a project; from then on to no other one."""
    every = _all(folder)
    mine = {name: [one for one in places if one != place] for name, places in every.get(hub, {}).items()}
    mine.setdefault(project, []).append(place)
    _save(folder / _FILE, {**every, hub: {name: places for name, places in mine.items() if places}})


def forget_project(folder: Path, hub: str, project: str) -> None:
    """Push nothing more to a project."""
    every = _all(folder)
    if project not in every.get(hub, {}):
        raise UsageProblem(f"Nothing is pushed to a project “{project}” from here.")
    left = {name: places for name, places in every[hub].items() if name != project}
    _save(folder / _FILE, {**every, hub: left})


def parse_folder_choice(text: str) -> tuple[str, str]:
    """A choice as it is typed, NAME=FOLDER, with the folder's whole path."""
    name, sign, place = text.partition("=")
    if not sign or not name.strip() or not place.strip():
        raise UsageProblem(f"“{text}” does not say which folder goes where: --project NAME=FOLDER.")
    windows = len(place) > 1 and place[1] == ":"
    return name.strip(), place.strip() if windows else str(Path(place.strip()).expanduser().absolute())


def project_for(choices: Mapping[str, list[str]], place: str) -> str:
    """The project that a session goes to which ran in a place: by the nearest folder above it; empty where to none."""
    found = []
    for name, folders in choices.items() if place else ():
        for folder in folders:
            kind = PureWindowsPath if "\\" in folder or "\\" in place else PurePosixPath
            if kind(place).is_relative_to(kind(folder)):
                found.append((len(folder), name))
    return max(found)[1] if found else ""


def _all(folder: Path) -> dict[str, Folders]:
    return _load(folder / _FILE, dict[str, Folders], "choose again what is pushed")
