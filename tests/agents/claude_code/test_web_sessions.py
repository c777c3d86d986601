"""Sessions from the web: both ways of the service, pages, what it refuses, and what it must never be given."""

import json
from pathlib import Path

import pytest

from tests.agents.claude_code.service import ENTRIES, ID, ORGANIZATION, TOKEN, Service, serving
from unspool.agents.web_sessions import WebAccount, WebService, connect
from unspool.errors import FetchFailed, NotFound, UsageProblem


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UNSPOOL_WEB_TOKEN", "UNSPOOL_WEB_ORGANIZATION", "UNSPOOL_WEB_URL", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


def connected(service: Service, token: str = TOKEN, organization: str = ORGANIZATION) -> WebService:
    return connect(WebAccount(token, organization, service.address))


def entries(log: bytes) -> list[object]:
    return [json.loads(line) for line in log.splitlines()]


@pytest.mark.parametrize("ways", [("events", "ingress"), ("events",), ("ingress",)], ids=" ".join)
def test_a_session_comes_whole_whichever_way_the_service_knows(ways: tuple[str, ...]) -> None:
    """All pages of the newer way are joined; where it is unknown, the older way gives the same entries."""
    with serving(ways=ways) as service:
        assert entries(connected(service).log(ID)) == ENTRIES
    assert any("cursor=c6" in path for path in service.asked) == ("events" in ways)


def test_the_list_has_every_page_with_repository_and_times() -> None:
    """Sessions of all pages are listed with the repository that they pushed to or came from."""
    with serving() as service:
        listed = list(connected(service).sessions())
    assert [one.repository for one in listed] == ["harbour/nets", "harbour/boats", ""]
    assert [one.title for one in listed] == ["Mend the net", "Paint the boat", ""]
    assert listed[0].created is not None
    assert listed[0].created.isoformat() == "2026-03-01T10:00:00+00:00"


def test_every_request_names_account_and_version() -> None:
    """The service is told who asks, for which organisation, and in which version of its language."""
    with serving() as service:
        connected(service).log(ID)
    assert {seen["authorization"] for seen in service.seen} == {f"Bearer {TOKEN}"}
    assert {seen["x-organization-uuid"] for seen in service.seen} == {ORGANIZATION}
    assert all(seen["anthropic-version"] and seen["anthropic-beta"] for seen in service.seen)


def test_an_expired_token_is_told_as_such() -> None:
    """401 says that the token has expired and what to do."""
    with serving() as service, pytest.raises(FetchFailed, match=r"token is not accepted \(401\).*--token"):
        list(connected(service, token="an-old-one").sessions())


def test_the_wrong_organisation_is_told_as_such() -> None:
    """403 says that token and organisation may not belong together."""
    with serving() as service, pytest.raises(FetchFailed, match=r"\(403\).*--org-uuid"):
        connected(service, organization="somebody-else").log(ID)


def test_an_unknown_session_is_not_found() -> None:
    """A session that neither way knows is not found; its name cannot change the address."""
    with serving() as service, pytest.raises(NotFound, match="404"):
        connected(service).log("../../v1/sessions?x=1")
    assert all("/../" not in path and "?x=1" not in path for path in service.asked)


@pytest.mark.parametrize("body", [b"[]", b'{"sessions":[]}', b"<html>", b'{"data":{}}', b'{"data":[7]}'], ids=repr)
def test_a_changed_service_is_told_as_such(body: bytes) -> None:
    """An answer of another shape says that the service has changed."""
    with serving(answers={"/v1/sessions": body}) as service, pytest.raises(FetchFailed, match="has changed"):
        list(connected(service).sessions())


@pytest.mark.parametrize(("status", "words"), [(500, "try again later"), (429, "pause"), (418, "has changed")])
def test_other_refusals_say_what_to_do(status: int, words: str) -> None:
    """A failing or busy service is told apart from a changed one."""
    with serving(answers={"/v1/sessions": status}) as service, pytest.raises(FetchFailed, match=words):
        list(connected(service).sessions())


def test_a_redirect_never_carries_the_token_away() -> None:
    """The service cannot send the token to another host."""
    with serving() as other:
        away = (302, {"Location": f"{other.address}/v1/sessions"})
        with serving(answers={"/v1/sessions": away}) as service, pytest.raises(FetchFailed, match="302"):
            list(connected(service).sessions())
    assert other.asked == []


def test_pages_that_never_end_are_not_followed() -> None:
    """A cursor that leads back to itself ends the list."""
    body = json.dumps({"data": [], "next_cursor": "same"}).encode()
    with serving(answers={"/v1/sessions": body}) as service:
        assert list(connected(service).sessions()) == []
    assert len(service.asked) == 2


def test_a_service_that_is_not_there() -> None:
    """A host that does not answer is told by name."""
    with serving() as service:
        gone = service.address
    with pytest.raises(FetchFailed, match="could not be reached"):
        connect(WebAccount(TOKEN, ORGANIZATION, gone)).log(ID)


@pytest.mark.parametrize("base", ["http://example.org", "ftp://127.0.0.1", "example.org"])
def test_the_token_is_only_sent_over_https(base: str) -> None:
    """Another address than https, but for this very machine, is refused before anything is sent."""
    with pytest.raises(UsageProblem, match="no https"):
        connect(WebAccount(TOKEN, ORGANIZATION, base))


# --- token and organisation -------------------------------------------------------------------------


def keychain(folder: Path, said: str, code: int = 0) -> str:
    """A PATH on which `security` is a program that says this, and notes what it was asked."""
    program = folder / "security"
    program.write_text(f"#!/bin/sh\necho \"$@\" > '{folder}/asked'\ncat '{folder}/said'\nexit {code}\n")
    (folder / "said").write_text(said)
    program.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def token_sent(service: Service) -> str:
    list(connect(WebAccount(base=service.address)).sessions())
    return service.seen[-1]["authorization"]


def test_the_macos_keychain_gives_the_token(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without flags and variables the agent's keychain item and its settings are read."""
    monkeypatch.setenv("PATH", keychain(tmp_path, json.dumps({"claudeAiOauth": {"accessToken": TOKEN}})))
    (home / ".claude.json").write_text(json.dumps({"oauthAccount": {"organizationUuid": ORGANIZATION}}))
    with serving() as service:
        assert token_sent(service) == f"Bearer {TOKEN}"
    assert "find-generic-password -s Claude Code-credentials -w" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("named", [False, True])
def test_the_agents_own_credentials_file_gives_the_token(
    named: bool, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Linux the agent keeps it beside its logs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = home / ".claude"
    if named:
        folder = tmp_path / "elsewhere"
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": TOKEN}}))
    (home / ".claude.json").write_text(json.dumps({"oauthAccount": {"organizationUuid": ORGANIZATION}}))
    with serving() as service:
        assert token_sent(service) == f"Bearer {TOKEN}"


@pytest.mark.parametrize(("said", "code"), [("", 44), ("not json", 0), ("[]", 0), ('{"claudeAiOauth":7}', 0)])
def test_a_keychain_without_the_item_says_what_to_do(
    said: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused, empty or strange keychain item is the same as none."""
    monkeypatch.setenv("PATH", keychain(tmp_path, said, code))
    with pytest.raises(UsageProblem, match="UNSPOOL_WEB_TOKEN"):
        connect(WebAccount(organization=ORGANIZATION))


def test_the_environment_comes_before_the_keychain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable is taken first, and the keychain is not even asked; a flag comes before both."""
    monkeypatch.setenv("PATH", keychain(tmp_path, json.dumps({"claudeAiOauth": {"accessToken": "wrong"}})))
    monkeypatch.setenv("UNSPOOL_WEB_TOKEN", TOKEN)
    monkeypatch.setenv("UNSPOOL_WEB_ORGANIZATION", ORGANIZATION)
    with serving() as service:
        assert token_sent(service) == f"Bearer {TOKEN}"
        assert not (tmp_path / "asked").exists()
        list(connect(WebAccount(TOKEN, ORGANIZATION, service.address)).sessions())


def test_no_organisation_says_what_to_do(home: Path) -> None:
    """A token alone is not enough."""
    (home / ".claude.json").write_text("{")
    with pytest.raises(UsageProblem, match="--org-uuid"):
        connect(WebAccount(TOKEN))


def test_a_token_cannot_smuggle_a_header() -> None:
    """What would end the header line is refused."""
    with pytest.raises(UsageProblem, match="token holds"):
        connect(WebAccount("a\r\nX-Evil: 1", ORGANIZATION))
