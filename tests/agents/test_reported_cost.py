"""What an agent itself says of a session: what it cost, told beside list prices as its own figure; what was thought."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories import cline, copilot, goose, kiro, opencode, pi
from tests.cli.running import run
from unspool.agents.values import add_cost
from unspool.figures import reported_cost
from unspool.store.library import Library


def change_lines(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _pi(home: Path) -> None:
    def priced(line: dict[str, Any]) -> None:
        if used := line.get("message", {}).get("usage"):
            used["cost"] = {"total": 0.005}

    change_lines(pi.write(home), priced)


def _copilot(home: Path) -> None:
    def ended(line: dict[str, Any]) -> None:
        if line["type"] == "session.shutdown":
            line["data"] |= {"totalPremiumRequests": 1.33, "totalNanoAiu": 2_500_000_000}

    change_lines(copilot.write(home), ended)


def _kiro(home: Path) -> None:
    beside = kiro.write(home).with_suffix(".json")
    told = json.loads(beside.read_text())
    used = [{"value": 0.25, "unit": "credit"}, {"value": 7, "unit": "shell"}, {"value": "9", "unit": "credit"}]
    turns = [{"metering_usage": used}, {"metering_usage": used[:1]}, 7]
    told["session_state"]["conversation_metadata"] = {"user_turn_metadatas": turns}
    beside.write_text(json.dumps(told))


def _goose(home: Path) -> None:
    with closing(sqlite3.connect(goose.write(home))) as db, db:
        db.execute("ALTER TABLE sessions ADD COLUMN accumulated_cost REAL")
        db.execute("UPDATE sessions SET accumulated_cost = 0.5")


def _opencode(home: Path) -> None:
    with closing(sqlite3.connect(opencode.write(home))) as db, db:
        db.execute("UPDATE message SET data = json_set(data, '$.cost', 0.1) WHERE data LIKE '%assistant%'")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (_pi, "$0.010"),
        (cline.write, "$0.020"),
        (_goose, "$0.50"),
        (_opencode, "$0.20"),
        (_kiro, "0.5 credits"),
        (_copilot, "1.33 premium requests · 2.5 AI units"),
    ],
)
def test_what_the_agent_says_is_told_as_its_own_figure(
    write: Callable[[Path], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "home"
    home.mkdir()
    write(home)
    (log,) = Library([home]).logs()
    assert reported_cost(Library([home]).open(log)) == said
    assert said in run("info", log.session_id, "-s", str(home)).out
    assert f"cost reported  {said}" in run("show", log.session_id, "-s", str(home)).out


def test_where_no_price_is_known_a_page_says_what_the_agent_says(tmp_path: Path) -> None:
    _kiro(tmp_path)
    assert "$0.00" not in run("info", kiro.SESSION, "-s", str(tmp_path)).out
    run("all", "-s", str(tmp_path / "sessions"), "-o", str(tmp_path / "out"))
    page = next((tmp_path / "out").rglob(f"*{kiro.SESSION}*/index.html")).read_text()
    assert "0.5 credits as the agent says" in page


@pytest.mark.parametrize("odd", [None, True, "1", -1, 0, float("nan"), float("inf"), 10**400, [], {}])
def test_what_is_no_amount_adds_nothing(odd: Any) -> None:
    assert add_cost("0.25", odd) == "0.25"


def test_what_copilot_says_was_thought_is_a_part_of_the_output(tmp_path: Path) -> None:
    def thought(line: dict[str, Any]) -> None:
        for metrics in line["data"].get("modelMetrics", {}).values():
            metrics["usage"]["reasoningTokens"] = 12

    change_lines(copilot.write(tmp_path), thought)
    (overview,) = Library([tmp_path]).overviews()
    assert [(call.usage.output, call.usage.reasoning) for call in overview.calls] == [(20, 12)]
