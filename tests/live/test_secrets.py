"""What is secret in a session of today is in nothing that leaves: planted where the agent itself brings it along."""

import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.live import agents
from tests.live.scenarios import SCENARIOS
from tests.live.stage import Stage
from tests.share.seeded import forms

PLANTED = {
    "prompt": "sk-ant-api03-" + "Qw7Zt4Lm9Xc2Vb6N" * 5 + "AA",
    "file": "ghp_" + "a8Kd03LmQx72VbTn5RwYz19GhJcE4sPu6Mf0",
    "environment": "AKIA" + "Q3W5E7R4T2Y6U4I5",
    "memory": "xoxb-" + "2718281828459-3141592653589-" + "kQ8wRtY2uIpLmNbVcXz7Ds4F",
    "commit": "glpat-" + "Zx9Cv8Bn7Mq6Ws5Ed4Rf",
    "remote": "ghp_" + "Zt6Yb1Nw8Qe3Rk5Uj7Hm9Gd2Fs4Xa0Lc8VpO",
}
"""Values by where they are planted: typed, read from a file, printed from the environment, in CLAUDE.md, in git."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The agent's folder and the session in which all of it came by."""
    folder = tmp_path_factory.mktemp("planted")
    config, work = folder / "config", folder / "work"
    agents.trust(config, work / "repo")
    with Stage() as stage:
        played = SCENARIOS["secrets"].play(stage, config, work, PLANTED)
    assert not played.failures
    return config, played.sessions[0]


def test_the_log_itself_holds_them(session: tuple[Path, str]) -> None:
    """Else nothing would be shown by their absence elsewhere."""
    config, name = session
    (log,) = config.glob(f"projects/*/{name}.jsonl")
    data = log.read_bytes()
    assert [place for place, value in PLANTED.items() if value.encode() not in data] in ([], ["remote"])


WAYS: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "html": lambda out: ("share", "--html", "--yes", "-o", str(out / "talk.html")),
    "site": lambda out: ("share", "--site", "--yes", "-o", str(out / "site")),
    "bundle": lambda out: ("share", "--bundle", "--yes", "-o", str(out / "talk.tar.gz")),
    "log": lambda out: ("redact", "-o", str(out / "log.jsonl")),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_leaves_holds_them(session: tuple[Path, str], way: str, tmp_path: Path) -> None:
    config, name = session
    command, *rest = WAYS[way](tmp_path)
    done = run(command, name, *rest, "--source", str(config))
    assert done.code == 0, done.err
    made = list(_contents(tmp_path))
    assert made
    found = [
        f"{place} in {where}"
        for where, data in made
        for place, value in PLANTED.items()
        if any(form in data for form in forms(value))
    ]
    assert not found


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and what is in those that are packed."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield path.name, path.read_bytes()
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as packed:
                for member in packed.getmembers():
                    if (inner := packed.extractfile(member)) is not None:
                        yield f"{path.name}/{member.name}", inner.read()
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed_zip:
                for one in packed_zip.namelist():
                    yield f"{path.name}/{one}", packed_zip.read(one)
