"""`unspool lake`: write, info, verify, as a person runs them."""

import json
from pathlib import Path

import pytest

from tests.cli.running import demo, run, source, talk
from unspool.store.sync import sync


def test_a_lake_is_written_told_of_and_verified(tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    out = demo("lake", "write", lake)
    assert "10 sessions read" in out
    assert lake in out
    again = json.loads(demo("lake", "write", lake, "--json"))
    assert (again["written"], again["unchanged"], again["failures"]) == (0, 10, [])
    told = run("lake", "info", lake)
    assert "claude-code, codex, opencode" in told.out
    data = json.loads(run("lake", "info", lake, "--json").out)
    assert {one["table"]: one["rows"] for one in data["tables"]}["sessions"] == 10
    assert (data["results"], data["redacted"]) == (True, False)
    assert run("lake", "verify", lake).code == 0
    next(Path(lake).glob("usage/**/*.parquet")).write_bytes(b"PAR1")
    broken = run("lake", "verify", lake)
    assert broken.code == 11
    assert "is not as it was written" in broken.out


def test_a_lake_of_some_sessions(tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    demo("lake", "write", lake, "--agent", "codex", "--without-results", "--redact")
    data = json.loads(run("lake", "info", lake, "--json").out)
    assert (data["agents"], data["results"], data["redacted"]) == (["codex"], False, True)
    assert run("lake", "write", lake, "--demo").code == 2
    assert run("lake", "write", lake, "--demo", "--prune", "--since", "3d").code == 2


def test_sessions_that_only_the_archive_has_are_in_the_lake(tmp_path: Path, home: Path) -> None:
    talk("one", seed="a").write(home / ".claude")
    gone = talk("two", seed="b").write(home / ".claude")
    sync(tmp_path / "archive", [home / ".claude"])
    gone.unlink()
    done = run("lake", "write", str(tmp_path / "lake"), "--archive", str(tmp_path / "archive"), "--json")
    assert json.loads(done.out)["written"] == 2, done.err
    question = "SELECT kept, count(*) AS n FROM sessions GROUP BY ALL ORDER BY ALL"
    rows = json.loads(run("sql", question, "--json", "--lake", str(tmp_path / "lake")).out)
    assert rows == [{"kept": False, "n": 1}, {"kept": True, "n": 1}]
    again = run("lake", "write", str(tmp_path / "lake"), "--archive", str(tmp_path / "archive"), "--json", "--prune")
    assert json.loads(again.out)["unchanged"] == 2


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text('{"terms": ["storm"]}')
    lake = str(tmp_path / "lake")
    demo("lake", "write", lake, "--policy", str(tmp_path / "policy.json"))
    question = "SELECT count(*) AS n FROM blocks WHERE text ILIKE '%storm%'"
    assert json.loads(run("sql", question, "--json", "--lake", lake).out) == [{"n": 0}]
    assert run("lake", "write", lake, "--demo", "--policy", str(tmp_path / "none.json")).code == 3


def test_a_place_that_is_no_lake(tmp_path: Path) -> None:
    assert run("lake", "info", str(tmp_path)).code == 3
    assert run("lake", "write", "ftp://x", "--demo").code == 2
    (tmp_path / "x.txt").write_text("mine")
    assert run("lake", "write", str(tmp_path), "--demo").code == 10


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unspool.cli import lake_cmd

    monkeypatch.setattr(lake_cmd, "find_spec", lambda _: None)
    for arguments in (("lake", "write", str(tmp_path)), ("sql", "SELECT 1")):
        done = run(*arguments)
        assert (done.code, "unspool[lake]" in done.err) == (2, True)


def test_a_log_that_cannot_be_read_is_told_and_the_rest_written(tmp_path: Path) -> None:
    broken = talk("one", seed="a").write(tmp_path / "logs")
    broken.write_bytes(b"\x1f\x8b broken")
    done = run("lake", "write", str(tmp_path / "lake"), *source(tmp_path / "logs", talk("two", seed="b")), "--json")
    assert done.code == 0
    assert broken.name in done.err
    assert json.loads(done.out)["written"] == 2


def test_shards_are_written_and_joined(tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    assert "Shard 1 of 2 is done" in demo("lake", "write", lake, "--shard", "1/2")
    early = run("lake", "write", lake, "--demo", "--join", "2")
    assert (early.code, "Not done yet of 2 shards: 2." in early.err) == (2, True)
    demo("lake", "write", lake, "--shard", "2/2")
    assert "10 sessions read" in demo("lake", "write", lake, "--join", "2")
    demo("lake", "write", str(tmp_path / "one"))
    question = "SELECT * FROM sessions ORDER BY ALL"
    one, joined = (run("sql", question, "--json", "--lake", place).out for place in (str(tmp_path / "one"), lake))
    assert json.loads(joined) == json.loads(one)


@pytest.mark.parametrize(
    "given",
    [
        ("--shard", "1/2", "--join", "2"),
        ("--shard", "3/2"),
        ("--shard", "1/2", "--prune"),
        ("--ray-address", "auto"),
        ("--hub-objects", "s3://x"),
        ("-s", "s3://x", "-s", "."),
    ],
)
def test_options_that_do_not_go_together_are_told(given: tuple[str, ...], tmp_path: Path) -> None:
    assert run("lake", "write", str(tmp_path / "lake"), *given).code == 2
