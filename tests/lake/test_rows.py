"""Rows: all of a session, each leading back to its line."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.lake.lakes import PRICES, TERMS, asked, written
from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from unspool.figures import all_turns, family
from unspool.model import Text, ToolCall
from unspool.store.library import Library


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo's logs and of a lake of them."""
    place = tmp_path_factory.mktemp("demo")
    for session in demo_sessions():
        session.write(place / "logs")
    written(place / "lake", place / "logs")
    return place


def test_every_row_leads_to_the_line_that_it_is_made_of(demo: Path) -> None:
    rows = asked(demo / "lake", """
        SELECT log, line, byte, text, 'prompt' FROM prompts WHERE text IS NOT NULL AND kind = 'text'
        UNION ALL SELECT log, line, byte, text, kind FROM blocks WHERE kind IN ('text', 'thinking') AND text IS NOT NULL
        UNION ALL SELECT log, line, byte, call, 'call' FROM calls
        UNION ALL SELECT log, line, NULL, message, 'message' FROM messages
        UNION ALL SELECT log, line, NULL, message, 'usage' FROM usage""")  # fmt: skip
    assert {row[4] for row in rows} == {"prompt", "text", "thinking", "call", "message", "usage"}
    logs = {log: Path(log).read_bytes() for log, *_ in rows}
    for log, line, byte, text, _ in rows:
        raw = logs[log].splitlines()[line - 1]
        assert json.dumps(text).encode()[1:-1] in raw or text.encode() in raw
        assert byte is None or logs[log][byte:].startswith(raw)


def test_show_finds_the_turn_of_a_line(demo: Path) -> None:
    found = asked(demo / "lake", "SELECT session, turn, line FROM calls WHERE subagent IS NULL AND branch = 0 LIMIT 4")
    for session, turn, line in found:
        shown = run("show", session, "--line", str(line), "-s", str(demo / "logs"))
        assert shown.code == 0, shown.err
        assert f"── Turn {turn}" in shown.out
        assert shown.out.count("── Turn") == 1


def test_a_line_of_a_subagent_is_shown_by_the_subagents_name(demo: Path) -> None:
    ((agent, line, text),) = asked(
        demo / "lake", "SELECT subagent, line, text FROM blocks WHERE kind = 'text' AND subagent IS NOT NULL"
        " AND log LIKE '%agent-%' LIMIT 1"
    )  # fmt: skip
    shown = run("show", f"agent-{agent}", "--line", str(line), "-s", str(demo / "logs"))
    assert text.split()[0] in shown.out


def test_a_line_beyond_the_log_is_not_found(demo: Path) -> None:
    session = demo_sessions()[0].session_id
    assert run("show", session, "--line", "99999", "-s", str(demo / "logs")).code == 3
    assert run("show", session, "--line", "3", "--at", "msg-1", "-s", str(demo / "logs")).code == 2


def test_no_block_of_a_session_is_missing(demo: Path) -> None:
    library = Library([demo / "logs"])
    sessions = [one for log in library.logs() for one in family(library.open(log))]
    blocks = [block for session in sessions for turn in all_turns(session) for block in turn.blocks]
    ((count, texts, calls),) = asked(
        demo / "lake", "SELECT count(*), count(*) FILTER (kind = 'text'), count(*) FILTER (kind = 'tool') FROM blocks"
    )
    assert count == len(blocks)
    assert texts == sum(isinstance(block, Text) for block in blocks)
    assert calls == sum(isinstance(block, ToolCall) for block in blocks)
    said = sorted(text for (text,) in asked(demo / "lake", "SELECT text FROM blocks WHERE kind = 'text'"))
    assert said == sorted(block.text for block in blocks if isinstance(block, Text))


def test_a_call_tells_what_it_did(tmp_path: Path) -> None:
    log = LogBuilder(seed="a").prompt("change it")
    log.edited("/home/dev/x.py", "a\nb\n", "b", "c\nd").failed("Bash", {"command": "make"}, "Exit code 2\nno rule")
    log.write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs")
    rows = asked(tmp_path / "lake", "SELECT role, outcome, file, shell, added, removed, result LIKE '%no rule%',"
                 " duration > 0 FROM calls ORDER BY line")  # fmt: skip
    assert rows == [
        ("edit", "ok", "/home/dev/x.py", None, 2, 1, False, True),
        ("shell", "failed", None, "make", None, None, True, True),
    ]
    assert asked(tmp_path / "lake", "SELECT path, how, added, removed FROM files") == [("/home/dev/x.py", "edit", 2, 1)]


def test_a_lake_without_results_holds_none_and_tells_their_size(tmp_path: Path) -> None:
    LogBuilder(seed="a").prompt("look").ran("ls", "a secret of the tool").write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs", terms=TERMS._replace(results=False))
    assert asked(tmp_path / "lake", "SELECT result, result_size FROM calls") == [(None, len("a secret of the tool"))]
    assert not any(b"secret of the tool" in path.read_bytes() for path in (tmp_path / "lake").rglob("*.parquet"))


def test_hostile_values_are_rows_like_others(tmp_path: Path) -> None:
    """Halves of characters, numbers beyond all bounds, deep nests, torn lines, NULs and quotes."""
    deep: object = "x"
    for _ in range(400):
        deep = [deep]
    log = LogBuilder(seed="a").prompt("it's \ud800 \u0000 'quoted' \"twice\"")
    log.call("Bash", {"command": "x", "n": 10**40, "half": "\udfff", "deep": deep}, "done")
    path = log.write(tmp_path / "logs")
    with path.open("ab") as file:
        file.write(b'{"type": "user", "message": {"torn\n\xff\xfe not json\n')
    report = written(tmp_path / "lake", tmp_path / "logs")
    assert report.failures == []
    assert asked(tmp_path / "lake", "SELECT count(*) FROM calls") == [(1,)]
    ((text,),) = asked(tmp_path / "lake", "SELECT text FROM prompts")
    assert "'quoted'" in text
    torn = asked(tmp_path / "lake", "SELECT raw FROM problems WHERE NOT mended ORDER BY line")
    assert any("not json" in raw for (raw,) in torn)


def test_money_is_exact(tmp_path: Path) -> None:
    """Picodollars are told to the last digit, and what has no price is no zero."""
    log = LogBuilder(seed="a").prompt("one")
    log.assistant(log.text("1"))
    log.write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs")
    ((cost, listed),) = asked(tmp_path / "lake", "SELECT u.cost, s.cost FROM usage u JOIN sessions s USING (session)")
    overview = Library([tmp_path / "logs"], PRICES).overviews()[0]
    assert cost == listed == overview.cost > 0
