"""`unspool sql`: questions about all sessions, as a person asks them."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.running import demo, finished, run, talk
from tests.lake.lakes import globbed
from unspool.cli import sql_cmd


def test_a_question_is_answered_with_a_table() -> None:
    out = demo("sql", "SELECT agent, count(*) AS sessions FROM sessions GROUP BY agent ORDER BY agent")
    assert [line.split() for line in out.splitlines()] == [
        ["agent", "sessions"], ["claude-code", "8"], ["codex", "1"], ["opencode", "1"],
    ]  # fmt: skip


def test_sums_are_what_usage_and_stats_say() -> None:
    told = json.loads(demo("sql", "SELECT sum(output)::BIGINT AS output, sum(cost) AS cost, count(*) AS requests"
                           " FROM usage WHERE counted", "--json"))[0]  # fmt: skip
    used = json.loads(run("usage", "--json", "-s", str(_demo_folder())).out)["total"]
    assert (told["output"], told["cost"], told["requests"]) == (used["output"], used["cost"], used["requests"])


def _demo_folder() -> Path:
    from unspool.cli.options import demo_folder

    return demo_folder()


def test_formats_hold_the_same_rows(tmp_path: Path) -> None:
    question = "SELECT model, requests, cost FROM cost_by_model"
    data = json.loads(demo("sql", question, "--json"))
    table = list(csv.DictReader(io.StringIO(demo("sql", question, "--csv"))))
    assert [row["cost"] for row in table] == [row["cost"] for row in data]
    for name in ("out.json", "out.csv", "out.parquet"):
        assert demo("sql", question, "-o", str(tmp_path / name)) == ""
    assert json.loads((tmp_path / "out.json").read_bytes()) == data
    assert list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines())) == table
    rows = globbed(f"SELECT model, requests FROM '{tmp_path}/out.parquet'")  # noqa: S608
    assert rows == [(row["model"], row["requests"]) for row in data]
    assert run("sql", question, "-o", str(tmp_path / "out.xlsx"), "--demo").code == 2


def test_an_empty_answer_is_no_error(tmp_path: Path) -> None:
    question = "SELECT * FROM usage WHERE false"
    assert json.loads(demo("sql", question, "--json")) == []
    demo("sql", question, "-o", str(tmp_path / "none.json"))
    assert json.loads((tmp_path / "none.json").read_bytes()) == []
    assert demo("sql", question).startswith("session")


def test_a_chart_has_a_bar_for_each_row() -> None:
    out = demo("sql", "FROM cost_by_day", "--chart")
    heads, *rows = out.splitlines()
    assert heads.split() == ["day", "cost"]
    assert all(set(row) & set("▏▎▍▌▋▊▉█") for row in rows)
    assert run("sql", "SELECT title FROM sessions", "--chart", "--demo").code == 2


def test_long_answers_are_cut_and_said_to_be() -> None:
    done = run("sql", "SELECT number FROM blocks", "-n", "3", "--demo")
    assert len(done.out.splitlines()) == 4
    assert "and more" in done.err


def test_views_are_listed() -> None:
    out = run("sql", "--views").out
    assert "cost_by_day" in out
    assert "One row a billed request" in out
    data = json.loads(run("sql", "--views", "--json").out)
    assert {one["name"] for one in data["tables"]} >= {"sessions", "usage", "calls"}
    assert all(column["meaning"] for table in data["tables"] for column in table["columns"])


@pytest.mark.parametrize("sql", ["", "DELETE FROM usage", "SELECT nothing FROM usage", "SELECT 1; SELECT 2"])
def test_what_is_no_question_is_told(sql: str) -> None:
    done = run("sql", sql, "--demo")
    assert (done.code, done.out) == (2, "")


def test_texts_cannot_drive_the_terminal(tmp_path: Path) -> None:
    talk("red \x1b[31m and \x07 bell").write(tmp_path / "logs")
    out = run("sql", "SELECT text FROM prompts", "-s", str(tmp_path / "logs")).out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_the_sessions_of_this_machine_are_asked_and_only_changes_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk("one", seed="a").write(home / ".claude")
    count = "SELECT count(*) AS n FROM sessions"
    assert json.loads(run("sql", count, "--json").out) == [{"n": 1}]
    talk("two", seed="b").write(home / ".claude")
    assert json.loads(run("sql", count, "--json").out) == [{"n": 2}]
    (lake,) = (home / "xdg_cache_home" / "unspool" / "lake").iterdir()
    from unspool.lake.storage import FolderStorage

    monkeypatch.setattr(sql_cmd, "_PATIENCE", 0.0)
    with FolderStorage(lake).sole_writer(0):
        talk("three", seed="c").write(home / ".claude")
        busy = run("sql", count, "--json")
    assert json.loads(busy.out) == [{"n": 2}]
    assert "another question" in busy.err


def test_nothing_of_an_encrypted_archive_stays_in_plain(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk("a word that nobody else says: quibblesnark").write(home / ".claude")
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", "correct horse")
    assert run("sync").code == 0
    assert run("archive", "encrypt").code == 0
    done = run("sql", "SELECT text FROM prompts", "--json")
    assert "quibblesnark" in done.out, done.err
    cache = home / "xdg_cache_home" / "unspool"
    assert not (cache / "lake").exists()
    assert not list(cache.rglob("*.parquet"))


def test_a_lake_is_asked_as_it_is(tmp_path: Path) -> None:
    demo("lake", "write", str(tmp_path / "lake"))
    assert run("sql", "SELECT 1", "--lake", str(tmp_path / "lake"), "--agent", "codex").code == 2
    assert run("sql", "SELECT 1", "--lake", str(tmp_path / "nowhere")).code == 3
    assert json.loads(run("sql", "SELECT count(*) AS n FROM sessions", "--lake", str(tmp_path / "lake"), "--json").out
                      ) == [{"n": 10}]  # fmt: skip


def test_a_process_says_nothing_but_the_answer() -> None:
    """The database complains at the end of a process that was not cleared up."""
    done = finished("sql", "SELECT 1 AS one", "--demo", "--csv")
    assert (done.code, done.out, done.err) == (0, "one\n1\n", "")
