"""`unspool web`: sessions of the service, listed, filtered, fetched and made into pages."""

import json
from pathlib import Path

import pytest

from tests.agents.claude_code.service import ENTRIES, ID, ORGANIZATION, TOKEN, serving
from tests.cli.running import run


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_WEB_TOKEN", TOKEN)
    monkeypatch.setenv("UNSPOOL_WEB_ORGANIZATION", ORGANIZATION)


@pytest.mark.parametrize("ways", [("events",), ("ingress",)], ids=" ".join)
def test_a_session_by_id(ways: tuple[str, ...], tmp_path: Path) -> None:
    """A session is fetched and made into pages; --json keeps what was fetched."""
    with serving(ways=ways) as service:
        done = run("web", ID, "--base-url", service.address, "-o", str(tmp_path), "--json")
    assert done.code == 0, done.err
    assert "Answer 5" in (tmp_path / "page-001.html").read_text()
    (log,) = tmp_path.glob("*.jsonl")
    assert [json.loads(line) for line in log.read_bytes().splitlines()] == ENTRIES


def test_a_session_from_the_list(tmp_path: Path) -> None:
    """Without an id the sessions are offered with title and repository."""
    with serving() as service:
        done = run("web", "--base-url", service.address, "-o", str(tmp_path / "out"), stdin=b"1\n")
    assert done.code == 0, done.err
    assert "harbour/nets" in done.err
    assert "Mend the net" in done.err
    assert "(no repository)" in done.err
    assert (tmp_path / "out" / "index.html").is_file()


def test_only_those_of_a_repository(tmp_path: Path) -> None:
    """--repo narrows the list; one that nothing belongs to is told."""
    with serving() as service:
        done = run("web", "--base-url", service.address, "--repo", "harbour/boats", stdin=b"\n")
        none = run("web", "--base-url", service.address, "--repo", "harbour/sheds", "-o", str(tmp_path))
    assert "Paint the boat" in done.err
    assert "Mend the net" not in done.err
    assert none.code == 3
    assert "harbour/sheds" in none.err


def test_a_refused_token_ends_with_its_code(tmp_path: Path) -> None:
    """401 is a failed fetch, with a word on what to do, and nothing is made."""
    with serving() as service:
        done = run("web", ID, "--base-url", service.address, "--token", "old", "-o", str(tmp_path / "out"))
    assert done.code == 6
    assert "401" in done.err
    assert not (tmp_path / "out").exists()


def test_the_token_is_never_printed(tmp_path: Path) -> None:
    """Whatever happens, the token stays out of what is said."""
    with serving(answers={"/v1/sessions": 500}) as service:
        done = run("web", "--base-url", service.address, "-o", str(tmp_path))
    assert TOKEN not in done.out + done.err
