"""Usage straight from logs is what the index says of them."""

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from unspool.demo import write_demo
from unspool.prices import PriceTable
from unspool.store.index.billing import HasDatabase, UsageFilter
from unspool.store.index.database import Index
from unspool.store.index.five_hour_blocks import five_hour_blocks
from unspool.store.index.usage import usage_report
from unspool.store.library import usage_from_logs as module
from unspool.store.library.discover import discover_logs
from unspool.store.library.usage_from_logs import ANSWERS, light_index
from unspool.store.sync import SyncChoices, sync

PRICES = PriceTable.load()
WANTED = UsageFilter(zone=UTC)


def answers(index: HasDatabase) -> list[object]:
    return [five_hour_blocks(index, WANTED) if by == "block" else usage_report(index, by, WANTED) for by in ANSWERS]  # type: ignore[arg-type]


def kept(source: Path, folder: Path) -> list[object]:
    sync(folder, [source], choices=SyncChoices(PRICES))
    with Index.open(folder, readonly=True) as index:
        return answers(index)


def test_made_logs_are_told_as_the_index_tells_them(made_corpus: Callable[[int, int], Path], tmp_path: Path) -> None:
    source = made_corpus(1, 5)
    assert answers(light_index(discover_logs([source]), PRICES)) == kept(source, tmp_path)


def test_real_logs_are_told_as_the_index_tells_them(shared: Path, tmp_path: Path) -> None:
    source = shared / "corpora" / "claude"
    assert answers(light_index(discover_logs([source]), PRICES)) == kept(source, tmp_path)


@pytest.mark.parametrize("jobs", [2, 5])
def test_several_processes_find_the_same(jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = discover_logs([write_demo(tmp_path)])
    alone = light_index(logs, PRICES, 1)
    monkeypatch.setattr(module, "_WORTH_A_PROCESS", 0)
    assert answers(light_index(logs, PRICES, jobs)) == answers(alone)
    assert usage_report(alone).sum.requests > 50


@pytest.mark.parametrize("jobs", [2, 4])
def test_copies_in_two_folders_count_once_whoever_reads_them(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_demo(tmp_path)
    alone = usage_report(light_index(discover_logs([source]), PRICES, 1)).sum
    for log in list((source / "projects").rglob("*.jsonl")):
        copy = source / "projects" / "-a-copy" / log.relative_to(source / "projects").as_posix().replace("/", "-", 1)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(log.read_bytes())
    monkeypatch.setattr(module, "_WORTH_A_PROCESS", 0)
    assert usage_report(light_index(discover_logs([source]), PRICES, jobs)).sum == alone


def test_a_log_that_cannot_be_read_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    source = write_demo(tmp_path)
    logs = discover_logs([source])
    everything = usage_report(light_index(logs, PRICES)).sum.requests
    gone = next(log for log in logs if usage_report(light_index([log], PRICES)).sum.requests)
    Path(gone.path).unlink()
    found = light_index(logs, PRICES)
    assert [gone.path in failure for failure in found.failures] == [True]
    assert 0 < usage_report(found).sum.requests < everything


def test_figures_beyond_belief_have_no_price(tmp_path: Path) -> None:
    log = LogBuilder(session_id="11111111-1111-4111-8111-111111111111")
    log.prompt("How much?").assistant(log.text("Much."), usage=DemoTokens(input=2**53))
    log.write(tmp_path)
    found = usage_report(light_index(discover_logs([tmp_path]), PRICES)).sum
    assert (found.input, found.unpriced, found.cost) == (2**53, 1, 0)
