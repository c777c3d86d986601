"""A redacted lake holds nothing that redaction removes, in no column and in nothing that is remembered."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.lake.lakes import TERMS, asked, contents, written
from tests.log_builder.builder import LogBuilder
from unspool.redact.policy import RedactionPolicy

TOKEN = "ghp_" + "Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll2"
MAIL = "alice.smith@corp-mail.net"
TERM = "Bluebird"
POLICY = RedactionPolicy(terms=(TERM,))
REDACTED = TERMS._replace(policy=POLICY, naming_key=b"k" * 32)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions of alice, whose secrets stand wherever something can."""
    monkeypatch.setenv("USER", "alicesmith")
    log = LogBuilder(seed="a", version="2.1.230", cwd="/home/alicesmith/shop").prompt(f"use {TOKEN} for {TERM}")
    log.ran(f"curl -H 'Authorization: {TOKEN}' x", f"mail {MAIL} in /home/alicesmith/shop")
    log.wrote("/home/alicesmith/shop/conf.py", f"KEY = '{TOKEN}'\n")
    use = log.agent_use("general-purpose", f"ask {MAIL}", f"look up {TOKEN}")
    log.assistant(use).subagent(use, "general-purpose", f"ask {MAIL}", lambda child: child.ran(f"echo {TOKEN}", MAIL))
    log.assistant(log.text(f"{TERM} is done, {MAIL}"))
    log.write(tmp_path / "logs")
    return tmp_path / "logs"


def everything(lake: Path) -> bytes:
    """All that the files of a lake hold, unpacked, and their names."""
    told = [str(path.relative_to(lake)).encode() for path in lake.rglob("*")]
    for path in lake.rglob("*.parquet"):
        for column in pq.ParquetFile(path).read().columns:
            told += [one if isinstance(one, bytes) else str(one).encode() for one in column.to_pylist()]
    told += [path.read_bytes() for path in lake.rglob("*.json")]
    return b"\n".join(told)


def test_no_column_holds_what_was_redacted(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "plain", logs)
    for secret in (TOKEN, MAIL, TERM, "alicesmith"):
        assert secret.encode() in everything(tmp_path / "plain"), secret
    report = written(tmp_path / "lake", logs, terms=REDACTED)
    assert report.failures == []
    held = everything(tmp_path / "lake")
    for secret in (TOKEN, MAIL, TERM, "alicesmith"):
        assert secret.encode() not in held, secret
    calls = "SELECT subagent IS NULL, tool, outcome FROM calls ORDER BY ALL"
    assert asked(tmp_path / "lake", calls) == asked(tmp_path / "plain", calls)


def test_figures_of_a_redacted_lake_are_the_same(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "plain", logs)
    written(tmp_path / "lake", logs, terms=REDACTED)
    for sql in ("FROM totals", "SELECT day, requests, cost FROM cost_by_day", "SELECT session, turn, line FROM turns"):
        assert asked(tmp_path / "lake", sql) == asked(tmp_path / "plain", sql)


def test_a_redacted_lake_is_brought_up_to_date_too(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs, terms=REDACTED)
    assert written(tmp_path / "lake", logs, terms=REDACTED).written == 0
    log = LogBuilder(seed="b", cwd="/home/alicesmith/shop").prompt("one")
    copy = log.assistant(log.text("1")).copied("bbbbbbbb-0000-4000-8000-000000000002").wait(60).prompt(TOKEN)
    log.write(logs)
    copy.assistant(copy.text("2")).write(logs)
    report = written(tmp_path / "lake", logs, terms=REDACTED)
    assert (report.written, report.again, report.failures) == (2, 1, [])
    written(tmp_path / "anew", logs, terms=REDACTED)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")
    assert TOKEN.encode() not in everything(tmp_path / "lake")


def test_a_log_that_cannot_be_redacted_is_told_without_its_name(logs: Path, tmp_path: Path) -> None:
    (logs / "projects/-home-alicesmith-shop/cccccccc-0000-4000-8000-000000000003.jsonl").write_bytes(b"\x1f\x8b broken")
    report = written(tmp_path / "lake", logs, terms=REDACTED)
    assert report.failures == ["The log could not be read or redacted."]
    assert asked(tmp_path / "lake", "SELECT count(*) FROM problems") == [(1,)]
    assert b"alicesmith" not in everything(tmp_path / "lake")
    written(tmp_path / "lake", logs, terms=REDACTED)
    assert asked(tmp_path / "lake", "SELECT count(*) FROM problems") == [(1,)]
