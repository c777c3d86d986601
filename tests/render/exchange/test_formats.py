"""What every exchange format promises: it is one of the writers, and reads back where it says so."""

import json
from pathlib import Path

import pytest

from tests.render.build import everything
from tests.render.exchange.given import demo, exported
from unspool.agents import AGENTS
from unspool.errors import NotALog
from unspool.render.exchange import EXCHANGE_FORMATS, ExchangeFormat
from unspool.render.writers import WRITERS, find_writer
from unspool.store.library import Library

each = pytest.mark.parametrize("one", EXCHANGE_FORMATS, ids=lambda one: one.name)


@each
def test_a_format_is_one_of_the_writers_and_says_whom_it_is_for(one: ExchangeFormat) -> None:
    assert one.writer in WRITERS
    assert find_writer(f"x{one.ending}") is one.writer
    assert one.purpose
    assert one.reference


@each
def test_a_format_reads_back_where_it_says_so(one: ExchangeFormat, tmp_path: Path) -> None:
    """As a session with the same title, and of no agent that could be mistaken for the one that wrote it."""
    session = next(each for each in demo(tmp_path / "demo") if each.turns)
    path = exported(session, one.name, tmp_path / "out")
    if one.reads_back:
        read = Library([tmp_path / "out"]).open(path)
        assert read.title == session.title
        assert read.agent in {"atif", "messages"}
        return
    with pytest.raises(NotALog):
        Library().open(path)


@each
def test_every_line_is_json_in_utf8(one: ExchangeFormat, tmp_path: Path) -> None:
    data = exported(everything(), one.name, tmp_path).read_bytes()
    assert data.endswith(b"\n")
    for line in data.splitlines():
        json.loads(line.decode("utf-8"))


def test_no_other_agent_takes_them_for_its_own(tmp_path: Path) -> None:
    """Files that lie in one folder are found by the reader of their format alone."""
    session = next(each for each in demo(tmp_path / "demo") if each.turns)
    for one in EXCHANGE_FORMATS:
        exported(session, one.name, tmp_path / "out")
    found = {(log.agent_id, Path(log.path).name) for log in Library([tmp_path / "out"]).logs()}
    assert {(agent, name) for agent, name in found if name.endswith((".atif.json", ".messages.jsonl"))} == {
        ("atif", f"{session.id}.atif.json"),
        ("messages", f"{session.id}.messages.jsonl"),
    }
    assert {"atif", "messages"} <= {agent.id for agent in AGENTS}
