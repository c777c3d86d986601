"""What the index tells of the cache and of windows: from rows put by hand, and from real logs synced."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.store.index.filled import Filled
from tests.store.index.synced import kept
from unspool.figures.context_window import context_window
from unspool.figures.tokens import EXPIRED, FILES, TOOL_OUTPUT, UNEXPLAINED
from unspool.store.index.billing import UsageFilter
from unspool.store.index.database import Index
from unspool.store.index.stats import FilledKind as Told
from unspool.store.index.stats import WastedCache, filled_kinds, filling_tools, wasted_cache
from unspool.store.library import Library

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
WORDS = "The till is short by a little. " * 60


def rewritten(index: Filled, session: int, number: int, cause: int = EXPIRED, cost: int | None = 7) -> None:
    """A request that wrote 2,000 tokens again."""
    index.request(session, NOON + number, message=number, request=number)
    index.put("rewrite", session=session, message=number, request=number, cause=cause, tokens=2000, cost=cost)


def test_causes_are_told_the_most_tokens_first() -> None:
    index = Filled()
    session = index.session()
    for number in (1001, 1002):
        rewritten(index, session, number)
    rewritten(index, session, 1003, UNEXPLAINED, None)
    assert wasted_cache(index) == (WastedCache("expired", 2, 4000, 14, 0), WastedCache("other", 1, 2000, 0, 1))


def test_a_copy_of_a_request_is_not_wasted_twice() -> None:
    index = Filled()
    one, two = index.session(), index.session()
    rewritten(index, one, 1001)
    rewritten(index, two, 1001)
    index.db.execute("UPDATE request SET counts = 0 WHERE session = ?", (two,))
    assert wasted_cache(index) == (WastedCache("expired", 1, 2000, 7, 0),)


def test_sums_that_the_database_cannot_hold_are_added_all_the_same() -> None:
    index = Filled()
    session = index.session()
    for number in (1001, 1002):
        rewritten(index, session, number, cost=2**62)
    assert wasted_cache(index) == (WastedCache("expired", 2, 4000, 2**63, 0),)


def test_time_project_and_model_narrow_it() -> None:
    index = Filled()
    rewritten(index, index.session(project="/shop"), 1001)
    rewritten(index, index.session(project="/tides"), 5001)
    assert wasted_cache(index, UsageFilter(since=NOON + 4000))[0].requests == 1
    assert wasted_cache(index, UsageFilter(project="shop"))[0].requests == 1
    assert wasted_cache(index, UsageFilter(model="nobody")) == ()


def test_kinds_and_tools_are_told_the_fullest_first_and_what_is_unaccounted_for_last() -> None:
    index = Filled()
    one, two = index.session(project="/shop"), index.session(project="/tides")
    dig = index.name("Dig")
    index.put("filled", session=one, kind=FILES, tool=dig, tokens=10)
    index.put("filled", session=two, kind=TOOL_OUTPUT, tool=index.name("Fly"), tokens=30)
    index.put("filled", session=two, kind=FILES, tool=dig, tokens=15)
    index.put("filled", session=one, kind=10, tool=None, tokens=900)
    assert filled_kinds(index) == (Told("tool output", 30, 1), Told("files", 25, 2), Told("unaccounted", 900, 1))
    assert filling_tools(index) == (Told("Fly", 30, 1), Told("Dig", 25, 2))
    assert filled_kinds(index, UsageFilter(project="shop")) == (Told("files", 10, 1), Told("unaccounted", 900, 1))


def sent(read: int, write: int) -> DemoTokens:
    return DemoTokens(input=2, read=read, write=write, output=20)


def paused() -> LogBuilder:
    """A session that waits too long, then switches its model, then is compacted."""
    log = LogBuilder(session_id="paused", model="claude-opus-5", start=datetime.fromtimestamp(NOON, UTC))
    log.prompt("one").assistant(log.text("1"), usage=sent(0, 20_000))
    log.prompt("two").assistant(log.text("2"), usage=sent(20_000, 1000))
    log.wait(7 * 60)
    log.prompt("three").assistant(log.text("3"), usage=sent(0, 22_000))
    log.prompt("four").assistant(log.text("4"), model="claude-opus-4-8", usage=sent(0, 23_000))
    log.compact("auto", "short").prompt("five")
    return log.assistant(log.text("5"), model="claude-opus-4-8", usage=sent(5000, 3000))


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wasted")
    log = (
        LogBuilder(session_id="full", model="claude-opus-5", cwd="/full")
        .prompt("go")
        .ran("count", WORDS)
        .read("/a.py", WORDS)
    )
    use = log.agent_use("Explore", "look", "Look around.")
    log.assistant(use).subagent(use, "Explore", "look", lambda child: child.ran("ls", WORDS))
    log.assistant(log.think(), log.text("Done."), usage=DemoTokens(input=0, read=50_000, output=3000))
    return kept(folder, paused(), paused().copied("copied"), log)


def test_a_sync_tells_why_the_cache_was_written_again_and_counts_copies_once(synced: Path) -> None:
    with Index.open(synced, readonly=True) as index:
        found = {one.cause: (one.requests, one.tokens) for one in wasted_cache(index)}
        assert found == {"expired": (1, 21_000), "model switched": (1, 22_000), "compacted": (1, 3000)}
        (expired,) = (one for one in wasted_cache(index) if one.cause == "expired")
        assert expired.cost == 21_000 * (6_250_000 - 500_000)  # written for five minutes instead of read


def test_figures_beyond_belief_are_synced_and_told(tmp_path: Path) -> None:
    log = LogBuilder(session_id="damaged", model="claude-opus-5").prompt("one")
    for _ in range(3):
        log.assistant(log.think(), log.text("1"), usage=DemoTokens(input=2**70, read=2**63, write=2**64, output=2**66))
    with Index.open(kept(tmp_path, log), readonly=True) as index:
        assert wasted_cache(index) == ()
        assert max(one.tokens for one in filled_kinds(index)) <= 10**12


def test_a_sync_weighs_windows_as_the_session_itself_tells_them(synced: Path) -> None:
    whole = context_window(Library([synced.parent / "source"]).open("full"))
    with Index.open(synced, readonly=True) as index:
        told = {one.name: one.tokens for one in filled_kinds(index, UsageFilter(project="/full"))}
        tools = {one.name for one in filling_tools(index)}
    assert told["files"] == pytest.approx(whole.added["files"], rel=0.1)
    assert told["tool output"] > 1.8 * whole.added["tool output"]  # its subagent's too
    assert told["thinking"] > 2000
    assert told["unaccounted"] > 10_000
    assert {"Bash", "Read"} <= tools
