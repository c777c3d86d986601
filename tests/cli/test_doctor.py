"""`unspool doctor`: findings in groups with their remedies, as JSON with everything, and an exit code that tells."""

import json
import os
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.store.sync.scenes import aged, keep, put
from unspool.cli.sync_cmd import doctor_command


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A source with one session that is due to be deleted, by the real clock."""
    old(tmp_path / "root", "a")
    return tmp_path / "root"


def old(root: Path, seed: str) -> None:
    then = time.time() - 40 * 86_400
    os.utime(root / aged(root, 0, seed).path, (then, then))


def doctor(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(
        doctor_command, [str(one) for one in arguments], prog_name="unspool doctor", help_option_names=["-h", "--help"]
    )
    return done.exit_code, done.output


def test_danger_ends_with_one_and_its_remedy(root: Path, tmp_path: Path) -> None:
    code, out = doctor("--source", root, "--archive", tmp_path / "archive")
    assert code == 1
    assert out.startswith("Something must be done\n  When it starts next, Claude Code deletes 1 session")
    assert "→ unspool sync" in out
    assert "There is no archive yet" in out


def test_once_kept_it_ends_with_nought(root: Path, tmp_path: Path) -> None:
    keep(tmp_path / "archive", root)
    code, out = doctor("--source", root, "--archive", tmp_path / "archive")
    assert code == 0
    assert "Something must be done" not in out
    assert "All well" in out


def test_json_has_every_finding_whole(root: Path, tmp_path: Path) -> None:
    for number in range(8):
        old(root, str(number))
    code, out = doctor("--json", "--source", root, "--archive", tmp_path / "archive")
    findings = json.loads(out)["findings"]
    (due,) = [one for one in findings if one["level"] == "bad"]
    assert code == 1
    assert set(due) == {"level", "check", "message", "details", "remedy"}
    assert len(due["details"]) == 9
    assert "and 4 more" in doctor("--source", root, "--archive", tmp_path / "archive")[1]


def test_the_archive_of_the_environment_is_looked_at(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "mine"))
    assert str(tmp_path / "mine") in doctor("--source", root)[1]


def test_without_anything_it_says_so(home: Path) -> None:
    code, out = doctor()
    assert code == 0
    assert "No agent has kept anything in its own folder; `unspool agents` lists" in " ".join(out.split())


def test_names_cannot_drive_the_terminal(root: Path, tmp_path: Path) -> None:
    row = {"display": "x", "timestamp": 1, "project": "/p\x1b]0;owned\x07\x1b[31m", "sessionId": "a\x1b[2J\nb"}
    put(root / "history.jsonl", row)
    put(root / "settings.json", {"cleanupPeriodDays": "\x1b[2J"})
    out = doctor("--source", root, "--archive", tmp_path / "archive")[1]
    assert "no log any more" in out
    assert "\x1b" not in out
    assert "\x07" not in out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_no_text_are_shown_as_far_as_they_are(root: Path, tmp_path: Path) -> None:
    (folder,) = (root / "projects").iterdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.jsonl")).write_text("{}")
    keep(tmp_path / "archive", root)
    Path(os.fsdecode(os.fsencode(folder) + b"/\xfe.jsonl")).write_text("{}")
    for how in ([], ["--json"]):
        code, out = doctor(*how, "--source", root, "--archive", tmp_path / "archive")
        assert (code, f"{folder}/?.jsonl" in out) == (0, True)
