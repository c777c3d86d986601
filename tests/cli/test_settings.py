"""Settings hold for every command: folders, prices and the time zone; flags go over them, mistakes are told by line."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.running import run, source, talk
from tests.log_builder.builder import LogBuilder

HERE, THERE = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"
MIDNIGHT = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)


def settings(home: Path, text: str) -> None:
    path = home / "xdg_config_home" / "unspool" / "settings.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def ids(*arguments: str) -> list[str]:
    done = run("list", "--json", *arguments)
    assert done.code == 0, done.err
    return [one["id"] for one in json.loads(done.out)["sessions"]]


@pytest.fixture
def there(home: Path, tmp_path: Path) -> Path:
    """A folder of logs that the settings name; another session lies where the agent's own are."""
    talk("Waves", HERE).write(home / ".claude")
    source(tmp_path / "there", LogBuilder(session_id=THERE, start=MIDNIGHT).prompt("Sand"))
    settings(home, f'sources = ["{tmp_path / "there"}"]\n')
    return tmp_path / "there"


def test_folders_of_the_settings_are_read_instead_of_the_usual_ones(there: Path) -> None:
    assert ids() == [THERE]
    assert json.loads(run("sync", "--json").out)["parsed"] == 1
    assert run("show", "latest").code == 0
    assert "Sand" in run("info").out
    assert str(there) in run("doctor", "--json").out


@pytest.mark.usefixtures("there")
def test_a_flag_goes_over_the_environment_and_that_over_the_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSPOOL_SOURCES", str(home / ".claude"))
    assert ids() == [HERE]
    assert ids("--source", str(tmp_path / "there")) == [THERE]


@pytest.mark.usefixtures("there")
def test_usage_without_an_archive_is_of_the_folders_of_the_settings(home: Path, tmp_path: Path) -> None:
    settings(home, f'sources = ["{tmp_path / "nowhere"}"]\n')
    done = run("usage")
    assert done.code == 3
    assert f"{tmp_path / 'nowhere'}, which" in done.err


def test_a_folder_that_is_gone_is_told_and_the_others_are_read(home: Path, there: Path, tmp_path: Path) -> None:
    settings(home, f'sources = ["{tmp_path / "gone"}", "{there}"]\n')
    done = run("list", "--json")
    assert [one["id"] for one in json.loads(done.out)["sessions"]] == [THERE]
    assert done.err.count(str(tmp_path / "gone")) == 1


@pytest.mark.usefixtures("there")
def test_days_begin_where_the_settings_say(home: Path) -> None:
    assert "2026-01-31 23:30" in run("list").out
    with_zone = (home / "xdg_config_home/unspool/settings.toml").read_text("utf-8") + 'time_zone = "Europe/Berlin"\n'
    settings(home, with_zone)
    assert "2026-02-01 00:30" in run("list").out
    assert "2026-02-01 00:30 CET" in run("info").out
    assert ids("--since", "2026-02-01") == [THERE]


@pytest.mark.parametrize(("arguments", "day"), [((), "2026-02-01"), (("--tz", "UTC"), "2026-01-31")])
def test_usage_by_day_is_by_the_days_of_the_settings(
    home: Path, tmp_path: Path, arguments: tuple[str, ...], day: str
) -> None:
    log = LogBuilder(session_id=THERE, start=MIDNIGHT).prompt("Sand")
    log.assistant(log.text("Aye."))
    settings(home, f'time_zone = "+05:30"\nsources = ["{tmp_path}"]\n')
    source(tmp_path, log)
    assert run("sync", "-q").code == 0
    told = json.loads(run("usage", "--json", *arguments).out)
    assert [row["day"] for row in told["rows"]] == [day]
    assert told["zone"] == (arguments[-1] if arguments else "+05:30")


def test_prices_of_the_settings_are_counted_with(home: Path, there: Path, tmp_path: Path) -> None:
    log = LogBuilder(session_id=HERE, start=MIDNIGHT).prompt("Sand")
    log.assistant(log.text("Aye."), model="made-up-model")
    source(there, log)
    own = tmp_path / "own.json"
    kinds = ("input", "output", "write", "write_1h", "read")
    price = {"model": "made-up-model", **dict.fromkeys(kinds, "1000000")}
    own.write_text(json.dumps({"models": [price]}), "utf-8")
    before = {one["id"]: one for one in json.loads(run("list", "--json").out)["sessions"]}[HERE]
    settings(home, f'sources = ["{there}"]\nprices = "{own}"\n')
    done = run("list", "--json")
    after = {one["id"]: one for one in json.loads(done.out)["sessions"]}[HERE]
    assert float(before["cost"]) == 0
    assert float(after["cost"]) > 1, done.err


def test_a_price_file_that_is_not_there_is_told(home: Path, there: Path) -> None:
    settings(home, f'sources = ["{there}"]\nprices = "/nowhere/own.json"\n')
    done = run("list")
    assert done.code == 0
    assert "/nowhere/own.json" in done.err


def test_a_mistake_is_told_by_its_line_once_and_cannot_drive_the_terminal(home: Path, there: Path) -> None:
    settings(home, f'sources = ["{there}"]\n# two\ntime_zone = "\\u001b[31mMars"\n')
    done = run("list")
    assert done.code == 0
    assert done.err.count("line 3: time_zone must be") == 1
    assert "\x1b" not in done.err
