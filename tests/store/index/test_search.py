"""Search over a really synced source: who is found, how often, why, and where it leads."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import Asked, asked, keys, lit
from unspool.errors import UsageProblem
from unspool.store.index.results import SearchResults
from unspool.store.index.search import COMMON, recency_factor

NOW = datetime.now(UTC).replace(microsecond=0)


def shop() -> LogBuilder:
    log = LogBuilder(session_id="shop", cwd="/home/dev/shop", branch="main", start=NOW - timedelta(days=40))
    log.prompt("Why is the checkout slow?")
    log.assistant(log.think("Perhaps the invoiceCache misses."), log.text("The invoice_cache is never filled."))
    log.ran("grep -rn checkout src/", "src/pay.py:12: def checkout(cart):\nsrc/pay.py:40: # naïve café lookup")
    log.edited("/home/dev/shop/src/pay.py", "slow = True\n", "slow = True", "slow = False")
    log.prompt("Und jetzt die Prüfung, 数据库连接 bitte.")
    return log.failed("Bash", {"command": "pytest -q tests/pay"}, "Exit code 1\nAssertionError: totals differ")


def harbour() -> LogBuilder:
    log = LogBuilder(session_id="harbour", cwd="/home/dev/harbour", branch="tides", start=NOW - timedelta(hours=2))
    log.prompt("Show the tides; the checkout of the repository is stale.")
    log.read("/home/dev/harbour/src/pay.py", "x = 1")
    use = log.agent_use("Explore", "look around", "Find every lighthouse.")
    log.assistant(use)
    log.subagent(use, "Explore", "look around", lambda child: child.assistant(child.text("One keeperless lighthouse.")))
    return log.title("Tides and lighthouses").assistant(log.text("Done."), model="claude-haiku-4-5")


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with asked(tmp_path_factory.mktemp("search"), shop(), harbour()) as opened:
        yield opened


def test_hits_are_grouped_by_session_and_counted(asking: Asked) -> None:
    """Each session comes once, with the exact number of places, and the totals of all."""
    found = asking.words("checkout")
    counts = {session.session: session.count for session in found.sessions}
    assert counts == {"shop": 3, "harbour": 1}
    assert (found.sessions_found, found.hits_found) == (2, 4)


def test_fewer_sessions_and_hits_are_shown_but_all_are_counted(asking: Asked) -> None:
    found = asking.words("checkout", sessions=1, hits=1)
    assert len(found.sessions) == 1
    assert len(found.sessions[0].hits) == 1
    assert (found.sessions_found, found.hits_found) == (2, 4)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("checkout tides", ["harbour"]),
        ("checkout -tides", ["shop"]),
        ("tides OR slow", ["harbour", "shop"]),
        ('"slow checkout"', []),
        ('"checkout of the"', ["harbour"]),
        ("lighth*", ["harbour"]),
        ("invoiceCache", ["shop"]),
        ("invoice_cache", ["shop"]),
        ("src/pay.py:12", ["shop"]),
        ("naive cafe", ["shop"]),
        ("prufung", ["shop"]),
        ("数据库", ["shop"]),
        ("库数", []),
        ("keeperless", ["harbour"]),
    ],
)
def test_words_find_their_sessions(asking: Asked, question: str, expected: list[str]) -> None:
    assert sorted(keys(asking.words(question))) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("checkout project:harbour", ["harbour"]),
        ("checkout -project:harbour", ["shop"]),
        ("checkout project:harbour project:shop", ["harbour", "shop"]),
        ("checkout role:user", ["harbour", "shop"]),
        ("checkout role:tool", ["shop"]),
        ("checkout kind:call", ["shop"]),
        ("checkout tool:bash", ["shop"]),
        ("checkout -tool:bash", ["harbour", "shop"]),
        ("checkout tool:read", []),
        ("done model:haiku", []),
        ("done model:opus", ["harbour"]),
        ("checkout branch:tides", ["harbour"]),
        ("checkout since:1d", ["harbour"]),
        ("checkout until:1d", ["shop"]),
        ("checkout since:60d until:30d", ["shop"]),
        ("totals is:error", ["shop"]),
        ("checkout is:error", []),
        ("lighthouse is:subagent", ["harbour"]),
        ("checkout session:sho", ["shop"]),
        ("checkout file:src/pay.py", ["harbour", "shop"]),
        ("checkout file:nowhere", []),
        ("checkout cost:>1000", []),
        ("checkout cost:<1000", ["harbour", "shop"]),
        ("checkout cost:0..1000", ["harbour", "shop"]),
        ("checkout cost:>99999999999999999999999999", []),
        ("checkout kind:interactive", ["harbour", "shop"]),
    ],
)
def test_filters_narrow_what_is_found(asking: Asked, question: str, expected: list[str]) -> None:
    assert sorted(keys(asking.words(question))) == expected


@pytest.mark.parametrize(
    "question", ["since:never", "until:32d2", "cost:much", "is:nice", "role:king", "kind:of", "cost:>1..2"]
)
def test_a_filter_without_meaning_is_told(asking: Asked, question: str) -> None:
    with pytest.raises(UsageProblem, match=question.split(":", maxsplit=1)[0]):
        asking.words(f"checkout {question}")


def test_without_words_the_newest_comes_first(asking: Asked) -> None:
    found = asking.words("role:user")
    assert keys(found) == ["harbour", "shop"]
    assert [session.count for session in found.sessions] == [2, 2]
    assert asking.words("role:user", sessions=1).sessions_found is None


def test_only_excluded_words_list_the_rest(asking: Asked) -> None:
    assert keys(asking.words("-checkout role:user session:shop")) == ["shop"]
    assert asking.words("-checkout role:user session:shop").hits_found == 1


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("checkout role:user session:shop", ["checkout"]),
        ("invoice_cache kind:thinking", ["invoiceCache"]),
        ("invoiceCache kind:answer", ["invoice_cache"]),
        ("cafe naive", ["naïve", "café"]),
        ("数据库", ["数据库"]),
        ("prufung", ["Prüfung"]),
        ("lighthous* kind:title", ["lighthouses"]),
        ('"differ" totals', ["totals", "differ"]),
    ],
)
def test_what_was_found_is_lit(asking: Asked, question: str, expected: list[str]) -> None:
    assert lit(asking.words(question)) == expected


def test_a_hit_says_where_it_is(asking: Asked) -> None:
    session = asking.words("totals").sessions[0]
    hit = session.hits[0]
    assert (hit.kind, hit.tool, hit.error, hit.turn) == ("result", "Bash", True, 2)
    assert hit.anchor == f"msg-{hit.time}"
    assert hit.link == f"unspool show shop --at {hit.anchor}"
    assert session.resume == "cd /home/dev/shop && claude --resume shop"
    assert (session.project, session.branch) == ("/home/dev/shop", "main")


def test_a_hit_in_a_subagent_names_it(asking: Asked) -> None:
    assert asking.words("keeperless kind:answer").sessions[0].hits[0].agent


def test_the_line_of_a_hit_is_in_the_archive(asking: Asked) -> None:
    """Log and place lead to the very bytes."""
    hit = asking.words("totals").sessions[0].hits[0]
    generation = asking.store.db.execute("SELECT generation FROM log WHERE path = ?", (hit.log,)).get
    assert b"totals differ" in asking.archive.line(generation, hit.place)


def test_a_title_is_found(asking: Asked) -> None:
    hit = asking.words("kind:title lighthouses").sessions[0].hits[0]
    assert hit.snippet.text == "Tides and lighthouses"


def test_a_beginning_finds_what_its_only_word_finds_in_the_same_order(tmp_path: Path) -> None:
    logs = [LogBuilder(session_id=f"s{number}").prompt("quokka " * number) for number in range(1, 6)]
    for number, log in enumerate(logs):
        for _ in range(number):
            log.ran("ls", f"a quokka {number}")
    with asked(tmp_path, *logs) as opened:
        assert opened.words("quok*", hits=2).sessions == opened.words("quokka", hits=2).sessions
        assert keys(opened.words("quok*", sessions=2)) == keys(opened.words("quokka"))[:2]
        many = patched_common(opened, "quok*"), patched_common(opened, "quokka")
        assert many[0].sessions == many[1].sessions


def patched_common(opened: Asked, question: str) -> SearchResults:
    """As if the words were in very many documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unspool.store.index.search.COMMON", 2)
        return opened.words(question, hits=2)


def test_a_beginning_is_gathered_as_often_for_many_sessions_as_for_one(tmp_path: Path) -> None:
    """What begins with a letter or two takes long to gather; the count is exact all the same."""
    logs = [LogBuilder(session_id=f"s{number}").prompt("quokka") for number in range(12)]
    with asked(tmp_path, *logs) as opened:
        asked_for: list[str] = []

        def trace(_: object, sql: str, __: object) -> bool:
            asked_for.append(sql)
            return True

        opened.store.db.exec_trace = trace
        found = opened.words("q*")
        assert (found.sessions_found, found.hits_found, len(found.sessions)) == (12, 12, 10)
        assert sum("words MATCH" in sql for sql in asked_for) <= 4


def test_a_title_is_of_no_turn_and_leads_to_the_beginning(asking: Asked) -> None:
    hit = asking.words("kind:title lighthouses").sessions[0].hits[0]
    assert (hit.turn, hit.time, hit.anchor) == (None, None, "")
    assert hit.link == "unspool show harbour"


def test_what_was_said_weighs_more_than_what_was_printed(tmp_path: Path) -> None:
    said = LogBuilder(session_id="said").prompt("quokka")
    printed = LogBuilder(session_id="printed").prompt("go").ran("ls", "quokka")
    with asked(tmp_path, said, printed) as opened:
        assert keys(opened.words("quokka")) == ["said", "printed"]


def test_of_equals_the_newer_comes_first(tmp_path: Path) -> None:
    logs = [
        LogBuilder(session_id=name, start=NOW - timedelta(days=age)).prompt("the quokka sleeps")
        for name, age in (("old", 300), ("new", 1), ("older", 900))
    ]
    with asked(tmp_path, *logs) as opened:
        assert keys(opened.words("quokka")) == ["new", "old", "older"]


def test_being_recent_counts_half_at_most() -> None:
    assert recency_factor(1000.0, 1000.0) == 1.5
    assert recency_factor(2000.0, 1000.0) == 1.5
    assert recency_factor(0.0, 30 * 86_400.0) == 1.25
    assert recency_factor(None, 1.0) == 1.0


def test_common_words_are_counted_and_still_ordered(tmp_path: Path) -> None:
    """Where too many documents match to weigh each, counts stay exact and a title beats what tools printed."""
    many = LogBuilder(session_id="many").prompt("go")
    for number in range(COMMON // 2 + 50):
        many.ran(f"echo {number} quokka", f"quokka {number}")
    titled = LogBuilder(session_id="titled").prompt("hello").title("quokka")
    with asked(tmp_path, many, titled) as opened:
        found = opened.words("quokka")
        assert {one.session: one.count for one in found.sessions} == {"titled": 1, "many": 2 * (COMMON // 2 + 50)}
        assert found.hits_found == 2 * (COMMON // 2 + 50) + 1
        assert keys(found)[0] == "titled"


def test_a_long_text_is_cut_around_what_was_found(tmp_path: Path) -> None:
    text = "before " * 500 + "the quokka and the wombat " + "after " * 500
    with asked(tmp_path, LogBuilder(session_id="long").prompt("quokka " + text)) as opened:
        snippet = opened.words("quokka wombat", context=80).sessions[0].hits[0].snippet
        assert "quokka and the wombat" in snippet.text
        assert len(snippet.text) <= 80
        assert (snippet.before, snippet.after) == (True, True)


def test_damaged_lines_are_found_too(tmp_path: Path) -> None:
    log = LogBuilder(session_id="torn").prompt("hello").raw(b'{"type": "user", "message": "quokka \xff\n')
    with asked(tmp_path, log) as opened:
        assert "quokka" in opened.words("quokka").sessions[0].hits[0].snippet.text
