"""What is made of a pushed session is made of one reading of its logs."""

from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from unspool.agents.lines import LogEvents
from unspool.demo import write_demo
from unspool.hub.sessions.process_push import SENT, make_session
from unspool.prices import PriceTable
from unspool.store.library import Library, read
from unspool.store.sync import extract
from unspool.store.sync.extract import ExtractJob, extract_rows


def test_a_log_that_was_pushed_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogBuilder(session_id="aaaaaaaa-0000-4000-8000-000000000001", cwd="/harbour")
    log.prompt("Mend the gauge").assistant(log.text("Done."))
    (tmp_path / SENT).mkdir(parents=True)
    path = tmp_path / SENT / f"{log.session_id}.jsonl"
    path.write_bytes(log.write(tmp_path / "agent").read_bytes())
    opened: Counter[str] = Counter()
    usual = read.open_events

    def counted(name: str, *args: Any, **named: Any) -> AbstractContextManager[LogEvents]:
        opened[name] += 1
        return usual(name, *args, **named)

    for module in (read, extract):
        monkeypatch.setattr(module, "open_events", counted)
    made = make_session(tmp_path, log.session_id, {}, None)
    assert made.facts.title == "Mend the gauge"
    assert opened[str(path)] == 1


def test_rows_of_logs_that_were_read_are_those_of_the_logs(tmp_path: Path) -> None:
    write_demo(tmp_path)
    library, prices, seen = Library((tmp_path,)), PriceTable.load(), 0
    for found in library.logs():
        session, logs = library.open_with_logs(found)
        assert session == library.open(found)
        assert extract_rows(ExtractJob(found, {}, logs), prices) == extract_rows(ExtractJob(found, {}), prices)
        seen += len(logs)
    assert seen > 5
