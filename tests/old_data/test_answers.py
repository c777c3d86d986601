"""What a program asked of the old version with --json is answered as it was: nothing lost, nothing changed."""

from pathlib import Path

import pytest

from tests.old_data.unpacked import OLD, OldData, differing

ON_A_HUB = {name for name, one in OLD.items() if one["asked"].split()[0] in ("hub", "shares", "GET")}


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
    assert differing(name, asked.json(*OLD[name]["asked"].split())) == []
