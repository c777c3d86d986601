"""The hubs that a person is signed in to."""

from pathlib import Path

import pytest

from unspool.errors import NotAllowed, Unreadable, UsageProblem
from unspool.hub_client.login import (
    FILE,
    HubEntry,
    check_token,
    choose_hub,
    forget_login,
    load_hubs,
    parse_address,
    require_login,
    save_login,
)

ONE, TWO = parse_address("https://one.example"), parse_address("https://two.example")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "config"
    save_login(place, ONE, HubEntry("uns_one", "ann"))
    save_login(place, TWO, HubEntry("uns_two", "ann"))
    return place


def test_the_last_hub_signed_in_to_is_the_usual_one_and_others_are_had_by_name(folder: Path) -> None:
    assert choose_hub(folder, environment={}).entry.token == "uns_two"
    assert choose_hub(folder, "one.example", {}).entry.token == "uns_one"
    assert choose_hub(folder, "https://three.example", {}).entry.token == ""


def test_tokens_are_for_their_user_alone(folder: Path) -> None:
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_the_environment_comes_before_the_file(folder: Path) -> None:
    login = choose_hub(folder, environment={"UNSPOOL_HUB": "https://three.example", "UNSPOOL_HUB_TOKEN": " uns_env\n"})
    assert (login.address.url, login.entry.token) == ("https://three.example", "uns_env")
    assert choose_hub(folder, environment={"UNSPOOL_HUB": "one.example"}).entry.token == "uns_one"


def test_signing_out_forgets_one_or_all(folder: Path) -> None:
    assert forget_login(folder, "two.example") == ["https://two.example"]
    assert choose_hub(folder, environment={}).address == ONE
    assert forget_login(folder, "two.example") == []
    assert forget_login(folder) == ["https://one.example"]
    assert not (folder / FILE).exists()
    with pytest.raises(UsageProblem, match="unspool login"):
        choose_hub(folder, environment={})


def test_whoever_is_not_signed_in_is_told_how(folder: Path) -> None:
    with pytest.raises(NotAllowed, match=r"unspool login https://three\.example"):
        require_login(choose_hub(folder, "three.example", {}))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"hubs": {"x": 3}}', b"\xff\xfe"])
def test_a_file_of_something_else_is_said_to_be_unreadable_and_stays(folder: Path, content: bytes) -> None:
    (folder / FILE).write_bytes(content)
    with pytest.raises(Unreadable):
        load_hubs(folder)
    assert (folder / FILE).read_bytes() == content


@pytest.mark.parametrize("typed", ["", "  ", "two words", "tab\there", "naïve", "line\x1b[2J"])
def test_what_cannot_be_a_token_is_not_kept(typed: str) -> None:
    with pytest.raises(UsageProblem):
        check_token(typed)
