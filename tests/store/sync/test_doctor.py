"""The doctor looks at everything, names each danger once, and changes nothing."""

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.store.sync.scenes import NOW, aged, keep, put
from unspool.store.sync import sync
from unspool.store.sync.doctor import CHECKS, diagnose
from unspool.store.sync.doctor_scene import LEVELS


def state(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file with its content, its times and its rights."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (hashlib.sha256(data).hexdigest(), status.st_mtime_ns, status.st_mode)
    return found


def test_a_new_machine_has_little_to_tell_and_nothing_bad(home: Path) -> None:
    found = diagnose((), home / "archive", datetime.now(UTC))
    assert "bad" not in {finding.level for finding in found}
    assert {"sources", "archive"} <= {finding.check for finding in found}
    assert not (home / "archive").exists()


def test_logs_about_to_be_deleted_are_bad_until_they_are_kept(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 31)
    before = {finding.check for finding in diagnose((root,), archive, NOW) if finding.level == "bad"}
    keep(archive, root)
    after = {finding.check for finding in diagnose((root,), archive, NOW) if finding.level == "bad"}
    assert (before, after) == ({"cleanup"}, set())


def test_time_alone_brings_the_danger(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 1)
    levels = [
        sorted({one.level for one in diagnose((root,), tmp_path / "archive", NOW + timedelta(days=days))})
        for days in (0, 28)
    ]
    assert ["bad" in found for found in levels] == [False, True]


def test_after_a_sync_nothing_is_at_risk_and_deleted_sessions_are_no_ghosts(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    for number in range(3):
        log = aged(root, 31, str(number))
        prompt = {"display": "x", "timestamp": 1, "project": log.cwd, "sessionId": log.session_id}
        put(root / "history.jsonl", prompt, 31)
    sync(archive, [root])
    found = {finding.check: finding.level for finding in diagnose((root,), archive, NOW) if finding.check != "cleanup"}
    assert {found[check] for check in ("sources", "keeping", "archive", "index")} == {"ok"}
    for path in root.glob("projects/*/*.jsonl"):
        path.unlink()
    after = diagnose((root,), archive, NOW)
    assert {"bad", "warn"}.isdisjoint(finding.level for finding in after)
    assert "ghosts" not in {finding.check for finding in after}


def test_an_encrypted_archive_is_looked_at_with_its_key(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 31)
    sync(archive, [root], key="secret")
    assert "bad" in {finding.level for finding in diagnose((root,), archive, NOW)}
    found = diagnose((root,), archive, NOW, "secret")
    assert {"bad", "warn"}.isdisjoint(finding.level for finding in found)


def test_nothing_is_written_and_nothing_is_touched(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    log = aged(root, 31)
    put(root / "history.jsonl", {"display": "x", "timestamp": 1, "project": "/p"})
    put(root / "sessions" / f"{os.getpid()}.json", {"pid": os.getpid(), "sessionId": log.session_id})
    keep(archive, root)
    before = state(tmp_path)
    diagnose((root,), archive, NOW)
    assert state(tmp_path) == before


def test_every_finding_that_is_not_well_says_what_to_do(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 31)
    put(root / "settings.json", {"cleanupPeriodDays": 0})
    found = diagnose((root, tmp_path / "gone"), tmp_path / "archive", NOW)
    assert {finding.level for finding in found} <= set(LEVELS)
    assert [finding for finding in found if finding.level in ("bad", "warn") and not finding.remedy] == []


def test_checks_have_names_of_their_own() -> None:
    assert len(set(CHECKS.values())) == len(CHECKS) == 10
