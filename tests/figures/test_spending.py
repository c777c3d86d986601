"""Where tokens and money went: every request once, in the turn that made it, and what the cache lost."""

from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.reading.reading import opened, session
from unspool.demo import write_demo
from unspool.figures import figures
from unspool.figures.spending import SessionSpending, session_spending
from unspool.model import Session
from unspool.model.usage import CAUSES
from unspool.prices import PICO, PriceTable
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.sync import sync

PRICES = PriceTable.load()
MODEL = "claude-opus-5"
WORDS = "The till is short by a little, and nobody knows why. " * 60


def sent(read: int, write: int = 0, output: int = 20) -> DemoTokens:
    return DemoTokens(input=2, read=read, write=write, output=output)


def spending(made: LogBuilder) -> SessionSpending:
    return session_spending(session(made), PRICES)


def assert_sums(found: Session, prices: PriceTable) -> SessionSpending:
    """Every sum is the session's own, to the last digit."""
    spent, counted = session_spending(found, prices), figures(found, prices)
    assert spent.total.cost == counted.cost
    assert spent.total.usage == counted.usage + counted.agents_usage
    assert spent.total.parts.total == counted.cost.amount
    by_turn = [one.cost.amount for one in spent.turns]
    assert sum(by_turn, Decimal(0)) == counted.cost.amount
    assert sum(one.calls for one in spent.turns) == len(spent.calls)
    assert {turn.number for turn in found.turns} <= {one.turn for one in spent.turns}
    assert all(one.cause in CAUSES for one in spent.lost)
    return spent


def test_a_call_counts_in_the_turn_that_made_it() -> None:
    made = LogBuilder(model=MODEL).prompt("one")
    made.assistant(made.text("1"), usage=sent(0, 1000)).prompt("two").assistant(made.text("2"), usage=sent(1000, 500))
    found = assert_sums(session(made), PRICES)
    assert [(one.turn, one.calls, one.usage.cache_write) for one in found.turns] == [(1, 1, 1000), (2, 1, 500)]


def test_what_a_call_cost_is_told_by_what_was_paid_for() -> None:
    made = LogBuilder(model=MODEL).prompt("one")
    (call,) = spending(made.assistant(made.text("1"), usage=sent(1_000_000, 100_000, 10_000))).calls
    assert call.parts is not None
    told = call.parts.input, call.parts.output, call.parts.read, call.parts.write
    assert told == (Decimal("0.00001"), Decimal("0.25"), Decimal("0.5"), Decimal("0.625"))


def test_subagents_count_in_the_turn_that_started_them(tmp_path: Path) -> None:
    made = LogBuilder(model=MODEL).prompt("one").assistant(LogBuilder().text("1"), usage=sent(0, 10))
    made.prompt("look around")
    use = made.agent_use("Explore", "Look", "Look around.")
    made.assistant(use).subagent(use, "Explore", "Look", lambda agent: agent.assistant(agent.text("done")))
    made.prompt("three").assistant(made.text("3"), usage=sent(0, 10))
    found = assert_sums(opened(tmp_path, made), PRICES)
    assert {one.turn for one in found.calls if one.agent} == {2}


def test_a_branch_that_was_left_counts_in_the_turn_it_leaves_from() -> None:
    made = LogBuilder(model=MODEL).prompt("one")
    made.assistant(made.text("1"), usage=sent(0, 10))
    at = made.last
    made.prompt("two").assistant(made.text("left"), usage=sent(0, 77)).rewind(at)
    made.prompt("other two").assistant(made.text("2"), usage=sent(0, 33))
    found = assert_sums(session(made), PRICES)
    assert [(one.turn, one.usage.cache_write) for one in found.turns] == [(1, 87), (2, 33)]


def test_requests_of_other_versions_stand_beside_the_turns(tmp_path: Path) -> None:
    one = LogBuilder(seed="one", model=MODEL).prompt("Which way?")
    one.assistant(one.text("North."))
    left, right = one.copied(one.session_id), one.copied(one.session_id)
    left.ids, right.ids = type(one.ids)("left"), type(one.ids)("right")
    left.prompt("Far?").assistant(left.text("No.")).write(tmp_path / "laptop")
    right.wait(60).prompt("Deep?").assistant(right.text("Yes.")).write(tmp_path / "desktop")
    library = Library((tmp_path / "laptop", tmp_path / "desktop"))
    found = assert_sums(library.open(library.find(one.session_id)), PRICES)
    assert found.turns[-1].turn is None
    assert found.turns[-1].calls == 1


def test_what_the_cache_lost_is_told_with_why_and_what_it_cost() -> None:
    made = LogBuilder(model=MODEL).prompt("one").assistant(LogBuilder().text("1"), usage=sent(0, 20_000))
    made.wait(400).prompt("two").assistant(made.text("2"), usage=sent(0, 25_000))
    made.compact("auto", "All is well.").prompt("three").assistant(made.text("3"), usage=sent(0, 9000))
    found = assert_sums(session(made), PRICES)
    assert [(one.cause, one.tokens) for one in found.lost] == [("expired", 20_000), ("compacted", 9000)]
    assert found.lost[0].cost == Decimal(20_000) * Decimal("5.75") / 10**6
    assert [one.lost_tokens for one in found.turns] == [0, 20_000, 9000]
    assert [one.compacted for one in found.calls] == [False, False, True]


def test_a_model_without_a_price_costs_nothing_that_is_known() -> None:
    made = LogBuilder(model="house-model").prompt("one")
    found = assert_sums(session(made.assistant(made.text("1"), usage=sent(0, 20_000))), PRICES)
    assert found.calls[0].parts is None
    assert found.total.cost.unpriced == (("house-model", 1),)


def test_answers_that_came_again_word_for_word_are_told() -> None:
    made = LogBuilder(model=MODEL).prompt("one").read("/a.py", WORDS)
    made.assistant(made.text("1")).prompt("two").read("/a.py", WORDS).read("/b.py", "short").read("/c.py", "short")
    (again,) = spending(made).repeated
    assert (again.name, again.times, again.turns) == ("Read", 2, (2,))
    assert "/a.py" in again.what
    assert again.tokens > 900


def test_a_session_that_asked_nothing_spent_nothing() -> None:
    found = assert_sums(session(LogBuilder().prompt("Anybody?")), PRICES)
    assert (found.calls, found.total.calls, found.lost) == ((), 0, ())


def test_the_command_tells_the_same_as_usage_and_info(tmp_path: Path) -> None:
    source = write_demo(tmp_path / "demo", others=True)
    folder = tmp_path / "archive"
    sync(folder, [source])
    told = msgspec.json.decode(run("usage", "--by", "session", "--no-sync", "--archive", str(folder), "--json").out)
    costs = {row["session"]: Decimal(row["cost"]) for row in told["rows"]}
    assert len(costs) > 5
    for log in Library((source,)).logs():
        spent, info = (
            msgspec.json.decode(run(command, log.path, "--json").out)[part]
            for command, part in (("context", "spending"), ("info", "figures"))
        )
        amount = Decimal(spent["total"]["cost"]["amount"])
        assert amount == Decimal(info["cost"]["amount"])
        assert amount == costs.get(log.session_id, Decimal(0))


SHARED = ("claude", "codex", "cases", *(f"agents/{name}" for name in ("opencode", "gemini", "pi", "copilot", "kimi")))


@pytest.mark.parametrize("place", SHARED)
def test_sums_are_those_of_every_real_session(shared: Path, place: str) -> None:
    library = Library((shared / "corpora" / place,))
    for log in library.logs():
        assert_sums(library.open(log), library.prices)


_LOST = """SELECT key, cause, SUM(rewrite.tokens), SUM(rewrite.cost) FROM rewrite
JOIN request USING (session, message, request) JOIN session ON session.id = request.session
WHERE counts = 1 GROUP BY key, cause"""


@pytest.mark.parametrize("place", ["claude", "codex"])
def test_losses_of_real_sessions_are_those_that_the_index_tells(shared: Path, tmp_path: Path, place: str) -> None:
    """But for sessions with several subagents in their own log: the index takes these for one conversation."""
    source = shared / "corpora" / place
    sync(tmp_path / "archive", [source])
    told: dict[str, dict[str, tuple[int, Decimal]]] = {}
    with Index.open(tmp_path / "archive", readonly=True) as index:
        for key, cause, tokens, cost in index.db.execute(_LOST):
            told.setdefault(key, {})[CAUSES[cause]] = tokens, Decimal(cost) / PICO
    library, compared = Library((source,)), 0
    for log in library.logs():
        found = library.open(log)
        if sum(agent.session.log.path == found.log.path for agent in found.agents) < 2:
            lost = session_spending(found, library.prices).lost
            assert {one.cause: (one.tokens, one.cost) for one in lost} == told.get(log.session_id, {}), log.path
            compared += bool(lost)
    assert compared or place == "codex"
