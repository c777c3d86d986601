"""A session for other programs: nothing that must not leave is in it, and all else is as it was, for every agent."""

import gzip
from pathlib import Path

import pytest

from tests.agents.stories import STORIES
from tests.log_builder.builder import LogBuilder
from tests.render.exchange.given import demo
from tests.share.made import SECRETS, SESSION, USER
from tests.share.made import session as secretive
from unspool.agents import AGENTS, CodingAgent
from unspool.figures import family, figures
from unspool.model import Session, Text, Thinking, ToolCall
from unspool.prices import PriceTable
from unspool.redact.rules import builtin_rules
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.redacted_session import open_ready
from unspool.store.library import Library

PRICES = PriceTable.load()
OTHERS = [agent for agent in AGENTS if agent.id in STORIES]


def asked(choices: ShareChoices | None = None) -> ShareSettings:
    return ShareSettings(lambda _: choices or ShareChoices(), builtin_rules(), environment={}, rehearsed=True)


def ready(library: Library, name: str, choices: ShareChoices | None = None) -> Session:
    with open_ready(library, name, asked(choices)) as one:
        return one.session


def calls(one: Session) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for member in family(one):
        for turn in member.turns:
            found += [(b.name, b.role, b.end) for b in turn.blocks if isinstance(b, ToolCall)]
    return found


def same(before: Session, after: Session) -> None:
    """All that is counted, and what each tool was called."""
    told, left = figures(before, PRICES), figures(after, PRICES)
    for name in ("turns", "messages", "texts", "thinking", "tool_calls", "agents", "branches", "usage", "agents_usage"):
        assert getattr(told, name) == getattr(left, name), name
    assert (told.cost, told.ends) == (left.cost, left.ends)
    assert calls(before) == calls(after)
    assert (before.agent, before.kind, before.versions) == (after.agent, after.kind, after.versions)


@pytest.mark.parametrize("agent", OTHERS, ids=lambda one: one.id)
def test_every_agents_session_is_whole_without_the_name_of_whoever_ran_it(agent: CodingAgent, tmp_path: Path) -> None:
    STORIES[agent.id].write(tmp_path)
    library = Library([tmp_path])
    (log,) = library.logs()
    with open_ready(library, log, asked()) as one:
        same(library.open(log), one.session)
        assert "/home/ada" not in repr(one.session)
        assert "/home/ada" not in Path(one.log.path).read_text()
        assert "/" not in one.session.log.path


def test_sessions_of_the_demo_are_whole(tmp_path: Path) -> None:
    """Ways that were left, subagents, compactions, plans and questions included."""
    originals = {one.id: one for one in demo(tmp_path)}
    library = Library([tmp_path])
    for log in library.logs():
        same(originals[log.session_id], ready(library, log.session_id))


def test_no_secret_is_left_in_log_subagent_or_spilled_answer(tmp_path: Path) -> None:
    secretive().write(tmp_path)
    library = Library([tmp_path])
    with open_ready(library, SESSION, asked()) as one:
        words = repr(one.session) + "".join(
            path.read_text() for path in Path(one.log.path).parent.rglob("*") if path.is_file()
        )
        assert not [name for name, secret in SECRETS.items() if secret in words]
        assert one.report is not None
        assert one.report.replaced >= len(SECRETS)
    same(library.open(SESSION), one.session)
    assert not Path(one.log.path).exists()


def test_words_chosen_for_the_project_go_and_kinds_stay_out(tmp_path: Path) -> None:
    secretive().write(tmp_path)
    library = Library([tmp_path])
    choices = ShareChoices(thinking=False, tools=False, subagents=False, terms=("harbour",))
    with open_ready(library, SESSION, asked(choices)) as one:
        blocks = [block for turn in one.session.turns for block in turn.blocks]
        assert one.shortened
        assert "harbour gauge" not in repr(one.session.turns)
        assert not any(isinstance(block, Thinking) for block in blocks)
        assert not [b for b in blocks if isinstance(b, ToolCall) and b.result is not None and b.result.text]
        assert any(isinstance(block, Text) for block in blocks)
        assert one.session.agents == ()


def test_what_was_copied_is_paid_where_it_was(tmp_path: Path) -> None:
    """Only among other sessions can it be told what a session copied; its redacted log lies alone."""
    first = LogBuilder(session_id="0a11ce00-0000-4000-8000-000000000001", model="claude-sonnet-4-5")
    first.prompt("Mend the quay").assistant(first.text("Mended."))
    other = first.copied("0a11ce00-0000-4000-8000-000000000002", fork=True)
    other.prompt("And the lighthouse").assistant(other.text("Lit."))
    first.write(tmp_path)
    other.write(tmp_path)
    library = Library([tmp_path])
    before, after = library.open(other.session_id), ready(library, other.session_id)
    assert [turn.copied for turn in before.turns] == [turn.copied for turn in after.turns] == [True, False]
    same(before, after)
    assert all(not link.title and not link.prompt for link in after.links)


def test_a_file_whose_name_tells_somebody_is_called_by_its_session(tmp_path: Path) -> None:
    log = secretive()
    path = tmp_path / f"of-{USER}.jsonl"
    path.write_bytes(log.to_bytes())
    with open_ready(Library([tmp_path]), str(path), asked()) as one:
        assert USER not in repr(one.session) + one.log.path
        assert one.session.turns


def test_a_packed_log_and_one_by_itself_are_read(tmp_path: Path) -> None:
    log = secretive()
    (tmp_path / "one.jsonl.gz").write_bytes(gzip.compress(log.to_bytes()))
    one = ready(Library([tmp_path]), str(tmp_path / "one.jsonl.gz"))
    assert len([turn for turn in one.turns if turn.prompt is not None]) == 3
    assert SECRETS["prompt"] not in repr(one)


def test_a_line_that_is_torn_at_the_end_stays_behind(tmp_path: Path) -> None:
    path = secretive().write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"my key is ' + SECRETS["prompt"].encode()[:30])
    with open_ready(Library([tmp_path]), SESSION, asked()) as one:
        assert one.session.problems == ()
        assert SECRETS["prompt"][:30] not in Path(one.log.path).read_text()


def test_without_settings_a_session_is_as_it_is(tmp_path: Path) -> None:
    secretive().write(tmp_path)
    library = Library([tmp_path])
    with open_ready(library, SESSION, None) as one:
        assert one.report is None
        assert one.session == library.open(SESSION)
