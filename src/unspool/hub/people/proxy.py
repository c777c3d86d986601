"""Who a reverse proxy says is asking.

The header that says so is believed only where the hub was told its name, and only from the addresses that it was told
to be proxies; from anywhere else it is as if it were not there. Somebody whom the hub has not seen is added, without
any right: they can do what every person can, and see no project until they are given it.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol

from unspool.hub.hub import Hub
from unspool.hub.people.names import fit
from unspool.hub.people.person import Person
from unspool.hub.people.roster import Wish, added
from unspool.hub.store.database import Database
from unspool.hub.trouble import Conflict, Unfit


class Headers(Protocol):
    """The headers of a request."""

    def getlist(self, key: str) -> list[str]:
        """All values of one header, in whatever case it is written."""


def identified(hub: Hub, peer: str, headers: Headers) -> Person | None:
    """Whom the proxy at `peer` vouches for; None where it is no proxy, or vouches for nobody who may come in."""
    if not hub.terms.header or not _believed(hub, peer):
        return None
    values = headers.getlist(hub.terms.header)
    if not values or values == [""]:
        return None
    if len(values) > 1 or "," in values[0]:
        raise Unfit("The identity header says more than one name.")
    return _person(hub.store.db, fit(_decoded(values[0])))


def _believed(hub: Hub, peer: str) -> bool:
    try:
        address: IPv4Address | IPv6Address = ip_address(peer)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return any(address.version == network.version and address in network for network in hub.terms.proxies)


def _decoded(value: str) -> str:
    """The bytes of a header, which are handed on as Latin-1, as what they are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        raise Unfit("The identity header is no UTF-8.") from None


def _person(db: Database, name: str) -> Person | None:
    """The person of a name; services, and the owner whom the first start made, come in by their tokens alone."""
    row = db.row("SELECT id, admin, kind, ended FROM person WHERE name = ?", name)
    if row is None:
        return _added(db, name)
    person, admin, kind, ended = row
    return Person(person, name, bool(admin), by="proxy") if kind == "person" and ended is None else None


def _added(db: Database, name: str) -> Person | None:
    try:
        return Person(added(db, Wish(name)), name, by="proxy")
    except Conflict:  # another request of theirs was quicker
        return _person(db, name)
