"""Where a hub is, and whether a token may be sent there."""

import pytest

from unspool.errors import UsageProblem
from unspool.hub_client.login import parse_address


@pytest.mark.parametrize(
    ("typed", "url", "private"),
    [
        ("hub.example", "https://hub.example", True),
        ("https://hub.example/", "https://hub.example", True),
        ("https://HUB.example:443/team/", "https://hub.example/team", True),
        ("http://127.0.0.1:8750", "http://127.0.0.1:8750", True),
        ("http://[::1]:8750", "http://[::1]:8750", True),
        ("http://localhost:80", "http://localhost", True),
        ("http://hub.example", "http://hub.example", False),
        ("http://10.0.0.7:8750", "http://10.0.0.7:8750", False),
        ("http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example", False),
    ],
)
def test_an_address_is_written_one_way_and_says_whether_others_can_read_along(
    typed: str, url: str, private: bool
) -> None:
    address = parse_address(typed)
    assert (address.url, address.private) == (url, private)
    assert parse_address(address.url) == address


@pytest.mark.parametrize(
    "typed",
    ["", "ftp://hub", "https://", "https://me:secret@hub", "https://hub?x=1", "https://hub#x", "https://hub:99999",
     "file:///etc/passwd", "https://a b", "https://hub\x1b[2J", "https://[::1"],
)  # fmt: skip
def test_what_is_no_address_of_a_hub_is_said_to_be_none(typed: str) -> None:
    with pytest.raises(UsageProblem):
        parse_address(typed)
