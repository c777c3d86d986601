"""What today's agents write is read whole: nothing unknown, nothing broken, nothing shown as it stands in the log."""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.live.conftest import Live
from unspool.figures import family
from unspool.model import Session
from unspool.model.blocks import Block, Unknown
from unspool.store.library import Library

RAW = re.compile(r'"(?:parentUuid|sessionId|leafUuid|requestRef|shapeHash|requestDigest|isSidechain)"\s*:')
"""A field that only a line of a log has."""


@pytest.fixture(scope="module")
def sessions(live_claude: Live) -> list[tuple[str, Session]]:
    """Every session that a scenario left, with its subagents, read once."""
    library = Library([live_claude.config])
    return [(name, library.open(one)) for name, ids in live_claude.sessions.items() for one in ids]


def blocks(session: Session) -> Iterator[Block]:
    for turns in (session.turns, *(branch.turns for branch in session.branches)):
        for turn in turns:
            yield from turn.blocks


def told(found: Iterable[str]) -> str:
    """Findings, one a line."""
    return "\n" + "\n".join(sorted(found))


def test_every_scenario_was_played(live_claude: Live) -> None:
    """Each came to its end and left a session."""
    stuck = [f"{name}: {why}" for name, one in live_claude.played.items() for why in one.failures]
    empty = [f"{name}: no session" for name, ids in live_claude.sessions.items() if not ids]
    assert not stuck + empty, told(stuck + empty)


NOT_OFFERED = {"BashOutput", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "MultiEdit", "TaskOutput"}
"""Tools of earlier versions that steps call in case they come back."""


def test_no_other_tool_is_missing(live_claude: Live) -> None:
    """A tool that goes is noticed, since its step is left out."""
    left_out = {
        tool
        for name, runs in live_claude.runs.items()
        for one in runs
        for tool in one.not_offered
        if name != "refused"  # which forbids one
    }
    assert left_out <= NOT_OFFERED


def test_every_step_was_asked_for(live_claude: Live) -> None:
    """A call that the agent never came to is a scenario that does not test what it says."""
    unasked = [
        f"{name}: {one.unplayed}"
        for name, runs in live_claude.runs.items()
        for one in runs
        if one.unplayed and name != "too_long"  # which ends before
    ]
    assert not unasked, told(unasked)


def test_no_block_is_unknown(sessions: list[tuple[str, Session]]) -> None:
    found = {
        f"{name}: {block.what} at line {block.place.line} of {inner.log.path}"
        for name, session in sessions
        for inner in family(session)
        for block in blocks(inner)
        if isinstance(block, Unknown)
    }
    assert not found, told(found)


def test_no_line_is_a_problem(sessions: list[tuple[str, Session]]) -> None:
    found = [
        f"{name}: {problem.why} at line {problem.place.line} of {inner.log.path}"
        for name, session in sessions
        for inner in family(session)
        for problem in inner.problems
    ]
    assert not found, told(found)


def test_every_line_goes_somewhere(sessions: list[tuple[str, Session]]) -> None:
    """The parts add up to the lines of the log."""
    for name, session in sessions:
        for inner in family(session):
            count = len(Path(inner.log.path).read_bytes().splitlines())
            assert (name, inner.lines.total) == (name, count)


def test_every_type_and_field_is_known(live_claude: Live) -> None:
    """What is new is named with the scenario that brings it and the first line it stands in."""
    from unspool.agents.claude_code.known import unknown

    found: dict[str, str] = {}
    for name, path in live_claude.logs():
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for new in unknown(json.loads(line)):
                found.setdefault(new, f"{new}: {name}, line {number} of {path}")
    assert not found, told(found.values())


WAYS: dict[str, Callable[[str, Path], tuple[str, ...]]] = {
    "show": lambda one, out: ("show", one, "--no-pager", "--full", "--with-subagents"),
    "info": lambda one, out: ("info", one),
    "markdown": lambda one, out: ("export", one, "-f", "markdown"),
    "text": lambda one, out: ("export", one, "-f", "text"),
    "page": lambda one, out: ("json", one, "-o", str(out / f"{one}.html")),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_line_is_shown_as_it_stands_in_the_log(live_claude: Live, way: str, tmp_path: Path) -> None:
    """Whatever is shown is told in words: no raw JSON of a line anywhere."""
    found: list[str] = []
    for name, ids in live_claude.sessions.items():
        for one in ids:
            done = run(*WAYS[way](one, tmp_path), "--source", str(live_claude.config))
            assert done.code == 0, f"{name}: {done.err}"
            page = tmp_path / f"{one}.html"
            shown = html.unescape(re.sub(r"<[^>]*>", "", page.read_text("utf-8"))) if page.exists() else done.out
            if raw := RAW.search(shown):
                found.append(f"{name} {one}: {shown[max(0, raw.start() - 120) : raw.end() + 80]}")
    assert not found, told(found)


ASKED_BESIDE = {
    "branched": "an aside; and the branch's account begins anew, though its log holds what came before",
    "broken_off": "an answer that broke off",
    "cleared_at_screen": "a compaction",
    "commands_of_its_own": "whether the goal is met",
    "compacted": "two compactions",
    "compacted_by_itself": "compactions",
    "hooks": "a compaction",
    "plan_accepted": "a name for the plan",
    "secrets": "a compaction",
    "too_long": "a compaction",
    "web": "a search",
}
"""Scenarios in which the agent asks for something that is billed and that no line of the conversation tells of."""


def test_usage_is_what_the_agent_says_it_was(sessions: list[tuple[str, Session]], live_claude: Live) -> None:
    """Tokens add up to the agent's own account; only what it asked beside the conversation is missing, which it does
    now and then where it waits for long."""
    differing = []
    for name, session in sessions:
        if name in ASKED_BESIDE or not (account := [one.data for one in session.side if one.type == "cost-state"]):
            continue
        models = account[-1]["modelUsage"]
        assert isinstance(models, dict)
        theirs, ours = sum(_tokens(one) for one in models.values()), _used(session)
        logged = {message.id for inner in family(session) for message in inner.messages}
        said = {message: used for run in live_claude.runs[name] for message, used in run.answered.items()}
        untold = sum(used for message, used in said.items() if message not in logged)
        if theirs not in (ours, ours + untold):
            differing.append(f"{name} {session.id}: {ours} rather than {theirs}, {untold} of it in no line")
    assert not differing, told(differing)


def _used(session: Session) -> int:
    return sum(message.usage.total for inner in family(session) for message in inner.messages)


def _tokens(one: object) -> int:
    assert isinstance(one, dict)
    counted = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return sum(int(one[name]) for name in counted)
