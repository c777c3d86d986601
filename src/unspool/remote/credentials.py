"""The hubs that a person is signed in to, and the tokens that let them in: one file, for this user's eyes alone."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from unspool.errors import NotAllowed, Unreadable, UsageProblem
from unspool.files import write_atomically
from unspool.remote.address import Address, parsed

FILE = "hubs.json"
HUB, TOKEN = "UNSPOOL_HUB", "UNSPOOL_HUB_TOKEN"
"""What the environment may say in place of the file."""


class Entry(msgspec.Struct, frozen=True):
    """A hub that a person is signed in to."""

    token: str
    name: str = ""
    """Who they are there."""
    insecure: bool = False
    """Whether the token may go to it where others can read it."""


class Hubs(msgspec.Struct, frozen=True):
    """All of them, by address; `usual` is the one that is meant where none is named."""

    usual: str = ""
    hubs: dict[str, Entry] = msgspec.field(default_factory=dict)


class Login(msgspec.Struct, frozen=True):
    """A hub and what lets one in; the token is empty where nobody is signed in."""

    address: Address
    entry: Entry


def known(folder: Path) -> Hubs:
    """The hubs of the file; none where there is no file. Unreadable where it is something else."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Hubs)
    except FileNotFoundError:
        return Hubs()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{folder / FILE} cannot be read: {error}. Remove it, and sign in again.") from None


def login(folder: Path, address: Address, entry: Entry) -> None:
    """Remember a hub's token; the hub is the usual one from now on."""
    hubs = known(folder).hubs | {address.url: entry}
    _write(folder, Hubs(address.url, hubs))


def logout(folder: Path, url: str = "") -> list[str]:
    """Forget one hub's token, or all of them; the addresses that were forgotten."""
    there = known(folder)
    gone = [parsed(url).url] if url else list(there.hubs)
    left = {name: entry for name, entry in there.hubs.items() if name not in gone}
    usual = there.usual if there.usual in left else next(iter(left), "")
    if left:
        _write(folder, Hubs(usual, left))
    else:
        (folder / FILE).unlink(missing_ok=True)
    return [name for name in gone if name in there.hubs]


def chosen(folder: Path, url: str = "", environment: Mapping[str, str] | None = None) -> Login:
    """The hub that is meant: the one named, the environment's, or the usual one; with its token.

    UsageProblem where there is none. A token of the environment goes to the hub that the environment or the user names,
    and to no other.
    """
    said = os.environ if environment is None else environment
    there = known(folder)
    named = url or said.get(HUB, "") or there.usual
    if not named:
        raise UsageProblem(f"No hub is known: name one, set {HUB}, or sign in with `unspool login URL`.")
    address = parsed(named)
    entry = there.hubs.get(address.url, Entry(""))
    if token := said.get(TOKEN, "").strip():
        entry = msgspec.structs.replace(entry, token=token)
    return Login(address, entry)


def needed(login: Login) -> Login:
    """The same, where somebody is signed in; NotAllowed elsewhere."""
    if not login.entry.token:
        raise NotAllowed(f"Nobody is signed in to {login.address.url}: `unspool login {login.address.url}`.")
    return login


def checked(token: str) -> str:
    """A token as it was typed or read; UsageProblem where it cannot be one."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageProblem("That is no token: one is a single word of letters, digits and marks.")
    return token


def _write(folder: Path, hubs: Hubs) -> None:
    write_atomically(folder / FILE, [msgspec.json.format(msgspec.json.encode(hubs, order="sorted")), b"\n"])
