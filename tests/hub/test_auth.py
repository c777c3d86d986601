"""A reverse proxy's word for who asks: believed from where it was said to be, and from nowhere else."""

from ipaddress import ip_network

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from tests.hub.people.folk import somebody
from unspool.hub.auth import identify_by_proxy
from unspool.hub.errors import BadRequest
from unspool.hub.people import projects, users
from unspool.hub.routes import Hub, HubSettings, client_address
from unspool.hub.server import create_first_admin
from unspool.hub.store.connect import Store

HEADER = "X-Forwarded-User"
URL, HOST = "https://hub.example", (b"host", b"hub.example")
INSIDE, OUTSIDE = "10.1.2.3", "192.0.2.1"


def hub(store: Store, header: str = HEADER, *nets: str) -> Hub:
    """A hub behind a proxy in 10.0.0.0/8."""
    return Hub(store, HubSettings(URL, header, proxies=tuple(map(ip_network, nets or ("10.0.0.0/8", "fd00::/8")))))


def said(*names: str) -> Headers:
    """A request's headers."""
    return Headers(raw=[HOST, *((HEADER.lower().encode(), name.encode()) for name in names)])


@pytest.mark.parametrize(
    ("peer", "said", "counted"),
    [
        (OUTSIDE, ("198.51.100.7",), OUTSIDE),
        (INSIDE, (), INSIDE),
        (INSIDE, ("198.51.100.7",), "198.51.100.7"),
        (INSIDE, ("203.0.113.1, 198.51.100.7",), "198.51.100.7"),
        (INSIDE, ("203.0.113.1", "198.51.100.7"), "198.51.100.7"),
        (INSIDE, ("203.0.113.1, 198.51.100.7, 10.0.0.9",), "198.51.100.7"),
        (INSIDE, ("10.0.0.8, 10.0.0.9",), "10.0.0.8"),
        (INSIDE, ("198.51.100.7:4711",), "198.51.100.7"),
        (INSIDE, ("[2001:db8::7]:4711",), "2001:db8::7"),
        ("::ffff:10.1.2.3", ("2001:db8::7",), "2001:db8::7"),
        (INSIDE, ("198.51.100.7, unknown, 10.0.0.9",), "10.0.0.9"),
        (INSIDE, ("198.51.100.7,",), INSIDE),
        ("", ("198.51.100.7",), ""),
    ],
)
def test_who_asks_is_counted_by_what_the_nearest_stranger_comes_from(
    peer: str, said: tuple[str, ...], counted: str
) -> None:
    """X-Forwarded-For is read from the right, as far as proxies of ours wrote it, and only where one of them asks."""
    headers = [(b"x-forwarded-for", one.encode()) for one in said]
    scope = {"type": "http", "client": (peer, 1) if peer else None, "headers": headers}
    terms = HubSettings(proxies=(ip_network("10.0.0.0/8"),))
    assert client_address(Request(scope), terms) == counted
    with_secret = terms._replace(proxy_secret="what the proxy knows")
    assert client_address(Request(scope), with_secret) == peer
    headers.append((b"proxy-secret", b"what the proxy knows"))
    assert client_address(Request({**scope, "headers": headers}), with_secret) == counted


def test_a_proxy_vouches_for_a_person(store: Store) -> None:
    """Known ones come in as they are; unknown ones are added, once, without any right."""
    ada = somebody(store.db, "ada", admin=True)
    known = identify_by_proxy(hub(store), INSIDE, said("ada"))
    assert known is not None
    assert (known.id, known.admin, known.by) == (ada.id, True, "proxy")
    new = identify_by_proxy(hub(store), INSIDE, said("zoë@example.org"))
    assert new is not None
    assert (new.name, new.admin) == ("zoë@example.org", False)
    assert projects.list_projects(store.db, new) == []
    assert identify_by_proxy(hub(store), INSIDE, said("zoë@example.org")) == new


@pytest.mark.parametrize("peer", [OUTSIDE, "", "testclient", "::1", "110.1.2.3", "10.1.2.3, 192.0.2.1"])
def test_from_anywhere_else_the_header_is_not_there(files_store: Store, peer: str) -> None:
    """A forged header makes nobody anybody, and adds nobody."""
    somebody(files_store.db, "ada", admin=True)
    assert identify_by_proxy(hub(files_store), peer, said("ada")) is None
    assert identify_by_proxy(hub(files_store), peer, said("eve")) is None
    assert len(users.list_users(files_store.db)) == 1


def test_no_header_is_believed_unless_one_is_named(files_store: Store) -> None:
    """Off is off, also for whoever comes from a proxy's address."""
    somebody(files_store.db, "ada", admin=True)
    assert identify_by_proxy(hub(files_store, ""), INSIDE, said("ada")) is None
    assert identify_by_proxy(Hub(files_store, HubSettings(header=HEADER)), INSIDE, said("ada")) is None
    assert identify_by_proxy(hub(files_store), INSIDE, said()) is None
    assert identify_by_proxy(hub(files_store), INSIDE, said("")) is None


def test_an_address_in_another_writing_is_the_same(files_store: Store) -> None:
    """IPv4 through IPv6 is IPv4; a network of one kind holds no address of the other."""
    somebody(files_store.db, "ada")
    assert identify_by_proxy(hub(files_store), "::ffff:10.9.9.9", said("ada")) is not None
    assert identify_by_proxy(hub(files_store), "fd00::5", said("ada")) is not None
    assert identify_by_proxy(hub(files_store, HEADER, "0.0.0.0/0"), "2001:db8::1", said("ada")) is None


@pytest.mark.parametrize(
    "names",
    [
        ("ada", "bob"),
        ("ada,bob",),
        ("ada, bob",),
        ("ada\x1b[31m",),
        ("a" * 200,),
        ("../ada",),
        ("ada\x00",),
        ("0" * 32,),
    ],
)
def test_a_header_that_is_no_one_name_is_refused(files_store: Store, names: tuple[str, ...]) -> None:
    """Several values, as when a client sent one too, and what is no name: nobody comes in, nobody is added."""
    somebody(files_store.db, "ada")
    with pytest.raises(BadRequest):
        identify_by_proxy(hub(files_store), INSIDE, said(*names))
    assert len(users.list_users(files_store.db)) == 1


def test_bytes_that_are_no_text_are_refused(files_store: Store) -> None:
    """A header that is no UTF-8 names nobody."""
    with pytest.raises(BadRequest):
        identify_by_proxy(hub(files_store), INSIDE, Headers(raw=[HOST, (HEADER.lower().encode(), b"ad\xff\xfea")]))


def test_the_owner_services_and_who_left_do_not_come_in_by_a_header(files_store: Store) -> None:
    """Somebody whom the proxy knows as `owner` is not the hub's; a service has its token; who was ended stays out."""
    create_first_admin(files_store.db)
    somebody(files_store.db, "robot", kind="service")
    somebody(files_store.db, "ada")
    users.deactivate_user(files_store.db, "ada")
    for name in ("owner", "robot", "ada"):
        assert identify_by_proxy(hub(files_store), INSIDE, said(name)) is None
