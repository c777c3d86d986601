"""What a program asked of the old version with --json is answered as it was: nothing lost, nothing changed."""

from pathlib import Path

import pytest

from tests.old_data.unpacked import OLD, OldData, lost

ON_A_HUB = {name for name, one in OLD.items() if one["asked"].split()[0] in ("hub", "shares", "GET")}
MENDED = {
    "redact": {".rules"},  # more is found: keys joined to a name, the name that git signs with, ids of accounts
    # A subagent's log that stands for itself is counted as `info` counts it, where a list counted none of its lines.
    # A link calls a session as the list itself does.
    "list": {
        *(f".sessions[4].{name}" for name in ("agents", "messages", "title", "tool_calls", "turns")),
        ".sessions[2].links[0].title",
    },
    "info-work": {".session.links[0].title"},
}
"""What is answered otherwise on purpose (CHANGELOG.md says so), by question."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all that is only asked shares one home."""
    return tmp_path_factory.mktemp("asked")


@pytest.fixture
def asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> OldData:
    """A home that today's version has synced once, so that its index is of today."""
    if (folder / "home").exists():
        return OldData(folder, monkeypatch)
    data = OldData(folder, monkeypatch, "home")
    data.said("sync")
    return data


@pytest.mark.parametrize("name", sorted(set(OLD) - ON_A_HUB))
def test_an_answer_holds_all_that_it_held(asked: OldData, name: str) -> None:
    found = lost(OLD[name]["answer"], asked.json(*OLD[name]["asked"].split()))
    assert [one for one in found if one.split()[0] not in MENDED.get(name, ())] == []
