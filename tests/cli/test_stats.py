"""`unspool stats` as people see it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from tests.cli.kept import filling, told
from unspool.cli.stats_cmd import command

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One session that did a little of everything."""
    with filling(tmp_path) as filled:
        session = filled.session(
            "aaaa1111-x", title="Mend \x1b[31mthe till", started=NOON, ended=NOON + 5400, turns=4, messages=12,
            cost=2 * 10**12, overview=msgspec.msgpack.encode({"agents": 3, "compactions": 1}),
        )  # fmt: skip
        filled.request(session, NOON, "opus", cost=2 * 10**12, input=10, cache_read=60, cache_write=30)
        filled.request(session, NOON + 86_400, "new", cost=None)
        filled.tally(session, "Dig", 8, 2)
        filled.touch(filled.turn(filled.log(session)), "/home/ann/shop/till.py", 2, NOON)
    return tmp_path


def test_every_section_is_told(folder: Path) -> None:
    said = told(command, folder)
    for heading in (
        "By model",
        "By tool",
        "By project",
        "Busiest days",
        "Hours of the week",
        "Longest",
        "Dearest",
        "Files",
    ):
        assert f"\n\n{heading}" in said
    rows = [line.split() for line in said.splitlines()]
    assert ["tool", "calls", "8,", "2", "failed"] in rows
    assert ["Dig", "8", "2", "25.0%", "████████████████████"] in rows
    assert ["aaaa1111", "2026-01-05", "12:00", "1", "h", "30", "m", "4", "$2.00", "Mend", "the", "till"] in rows
    assert ["/home/ann/shop/till.py", "0", "0", "1", "1"] in rows
    assert "No known price: new (1 request)." in said
    assert "2 days at most" in said
    assert "\x1b" not in said


def test_json_holds_the_same(folder: Path) -> None:
    data = json.loads(told(command, folder, "--json"))
    assert data["totals"]["agents"] == 3
    assert data["usage"]["cost"] == "2"
    assert data["hours"][0][12] == 1
    assert data["dearest"][0]["cost"] == "2"
    assert data["longest"][0]["seconds"] == 5400
    assert data["files"][0] == {"path": "/home/ann/shop/till.py", "reads": 0, "writes": 0, "edits": 1, "sessions": 1}
    assert data["streak"]["longest"] == 2


def test_only_what_is_asked_for_is_told(folder: Path) -> None:
    assert json.loads(told(command, folder, "--json", "--until", "2026-01-05"))["usage"]["requests"] == 1
    assert json.loads(told(command, folder, "--json", "-p", "elsewhere"))["totals"]["sessions"] == 0


def test_an_empty_index_has_statistics_too(tmp_path: Path) -> None:
    with filling(tmp_path):
        pass
    assert "0 in 0 projects" in told(command, tmp_path)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_tables_fit_the_terminal(folder: Path, columns: int) -> None:
    tables = told(command, folder, columns=columns).split("\n\n")[1:]
    assert all(len(line) <= max(columns, 62) for table in tables for line in table.splitlines())


@pytest.fixture
def spilled(tmp_path: Path) -> Path:
    """A session that wrote to the cache twice, and filled a window."""
    with filling(tmp_path) as filled:
        session = filled.session("bbbb2222-x")
        for number, cost in ((901, 3 * 10**12), (902, None)):
            filled.request(session, NOON, message=number, request=number)
            filled.put("rewrite", session=session, message=number, request=number, cause=0, tokens=4000, cost=cost)
        filled.put("filled", session=session, kind=5, tool=filled.name("Dig\x1b[1m"), tokens=300)
        filled.put("filled", session=session, kind=10, tool=None, tokens=100)
    return tmp_path


def test_what_was_written_again_and_what_filled_windows_is_told(spilled: Path) -> None:
    rows = [line.split() for line in told(command, spilled).splitlines()]
    assert ["expired", "2", "8,000", "≥$3.00", "████████████████████"] in rows
    assert ["files", "300", "75.0%", "████████████████████"] in rows
    assert next(row[:3] for row in rows if row[:1] == ["unaccounted"]) == ["unaccounted", "100", "25.0%"]


def test_json_holds_them_too(spilled: Path) -> None:
    data = json.loads(told(command, spilled, "--json"))
    assert data["wasted"] == [{"cause": "expired", "requests": 2, "tokens": 8000, "cost": "3", "unpriced": 1}]
    assert [one["name"] for one in data["filled"]] == ["files", "unaccounted"]
    assert data["filling_tools"][0]["tokens"] == 300


def test_sections_without_anything_are_left_out(folder: Path) -> None:
    said = told(command, folder)
    assert "Written to the cache" not in said
    assert "What filled the window" not in said
