"""What of a session can be found, and where it leads."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from unspool.model import Session
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.site.search_records import EXCERPT, OUTPUT, PROSE, RECORD_KINDS, VALUE, SearchRecord, session_records
from unspool.store.library import open_session


def found(session: Session, hide: Iterable[str] = ()) -> list[SearchRecord]:
    return list(session_records(session, Addresses(session, SiteOptions()), frozenset(hide)))


def told(log: LogBuilder, folder: Path) -> list[SearchRecord]:
    return found(open_session(log.write(folder)))


@pytest.fixture
def demo(tmp_path: Path) -> list[Session]:
    return [open_session(log.write(tmp_path)) for log in demo_sessions()]


def test_prompts_answers_thinking_and_calls_are_found_in_the_order_of_the_log(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.use("Bash", command="ls -la /srv", description="List")
    log.prompt("What is here?").assistant(log.think("Let me look"), use).result(use, "README.md")
    log.assistant(log.text("A readme."))
    kept = told(log, tmp_path)
    assert [record.kind for record in kept] == ["title", "prompt", "thinking", "tool", "answer"]
    assert kept[1].text == "What is here?"
    assert kept[3].text == "Bash\nls -la /srv\nList\nREADME.md"
    assert kept[1].time > 0


def test_every_record_leads_to_a_page_and_an_anchor_of_its_own(demo: list[Session]) -> None:
    for session in demo:
        links = [record.link for record in found(session)]
        assert len(links) == len(set(links))
        assert links[0] == "index.html"
        assert all(".html#" in link for link in links[1:])


def test_the_demo_has_records_of_every_kind_and_none_is_empty(demo: list[Session]) -> None:
    kept = [record for session in demo for record in found(session)]
    assert {record.kind for record in kept} == set(RECORD_KINDS)
    assert all(record.text for record in kept)


@pytest.mark.parametrize(
    ("hide", "gone"), [("thinking", "thinking"), ("tools", "tool"), ("notices", "notice"), ("agents", "agent")]
)
def test_what_the_site_hides_is_not_found(demo: list[Session], hide: str, gone: str) -> None:
    kinds = {record.kind for session in demo for record in found(session, [hide])}
    assert gone not in kinds
    assert {"prompt", "answer", "plan", "question"} <= kinds


def test_of_a_long_answer_both_ends_are_kept(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.use("Bash", command="make")
    log.prompt("Go").assistant(use).result(use, "first " + "x" * 9_000 + " last")
    (call,) = (record for record in told(log, tmp_path) if record.kind == "tool")
    assert "first" in call.text
    assert call.text.endswith(" last")
    assert len(call.text) < OUTPUT + 50


def test_of_a_file_that_was_read_little_is_kept(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.use("Read", file_path="/srv/app/long.py")
    log.prompt("Go").assistant(use).result(use, "y" * 9_000)
    (call,) = (record for record in told(log, tmp_path) if record.kind == "tool")
    assert "/srv/app/long.py" in call.text
    assert len(call.text) < EXCERPT + 50


def test_values_given_to_a_tool_are_cut_and_a_command_is_not(tmp_path: Path) -> None:
    log = LogBuilder()
    one, other = log.use("Write", file_path="/a", content="z" * 9_000), log.use("Bash", command="c" * 1_500)
    log.prompt("Go").assistant(one, other)
    written, run = (record for record in told(log, tmp_path) if record.kind == "tool")
    assert written.text.count("z") == VALUE
    assert run.text.count("c") == 1_500


def test_a_huge_prompt_is_bounded(tmp_path: Path) -> None:
    kept = told(LogBuilder().prompt("word " * 100_000), tmp_path)
    assert max(len(record.text) for record in kept) == PROSE - 1


def test_escapes_and_reordering_characters_do_not_hide_words(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.use("Bash", command="pytest")
    log.prompt("Go \u202e on \ud800").assistant(use).result(use, "\x1b[31mFAILED\x1b[0m test")
    texts = "\n".join(record.text for record in told(log, tmp_path))
    assert "\nFAILED test" in texts
    assert not {"\x1b", "\u202e", "\ud800"} & set(texts)


@pytest.mark.parametrize("given", [None, 7, "text", ["a", {"b": "deep"}], {"a": {"b": {"c": {"d": {"e": "no"}}}}}])
def test_input_of_any_shape_makes_a_record(tmp_path: Path, given: object) -> None:
    log = LogBuilder()
    use = log.use("Odd")
    use["input"] = given
    (call,) = (record for record in told(log.prompt("Go").assistant(use), tmp_path) if record.kind == "tool")
    assert call.text.startswith("Odd")
    assert "no" not in call.text.split()
