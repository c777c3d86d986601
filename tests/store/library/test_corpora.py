"""Real logs, and their peers' answers about them."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.cli.kept import told
from tests.log_builder.story.requests import ADVISOR, advised, watched
from tests.store.library.accounted import counted, numbered, reached
from tests.thorough import thorough, tries
from unspool.cli.usage_cmd import command as usage_command
from unspool.figures import family, figures
from unspool.model import Session, Usage
from unspool.prices import PriceTable
from unspool.store.library import Library, read_session
from unspool.store.sync import sync


@pytest.fixture(scope="module")
def claude(shared: Path) -> Path:
    place = shared / "corpora" / "claude"
    if not place.is_dir():
        pytest.skip("the shared folder has no corpora/claude")
    return place


@pytest.fixture(scope="module")
def whole(claude: Path) -> dict[str, Session]:
    """Every session of the corpus, by the path of its log."""
    library = Library([claude])
    return {log.path: library.open(log) for log in library.logs()}


def test_every_log_is_read(whole: dict[str, Session], claude: Path) -> None:
    logs = {str(path) for path in claude.rglob("*.jsonl") if not path.name.startswith("agent-")}
    assert whole.keys() == logs
    assert all(session.turns for session in whole.values() if session.kind not in ("empty", "stub"))


def test_nothing_in_the_corpus_is_a_problem_or_unknown_to_us(whole: dict[str, Session]) -> None:
    assert [problem.why for session in whole.values() for problem in session.problems] == []


def test_the_parts_of_lines_add_up_to_the_lines_of_the_log(whole: dict[str, Session]) -> None:
    for path, session in whole.items():
        lines = session.lines
        parts = (lines.conversation, lines.side, lines.repeated, lines.superseded, lines.blank, lines.problems)
        assert sum(parts) == lines.total == counted(Path(path).read_bytes())


def test_every_line_can_be_reached_from_the_session(whole: dict[str, Session]) -> None:
    for path, session in whole.items():
        missing = numbered(Path(path).read_bytes()) - reached(session)
        assert len(missing) == session.lines.repeated, (path, sorted(missing)[:5])


def test_every_sample_line_is_read_and_counted(shared: Path) -> None:
    samples = sorted((shared / "corpora" / "samples").rglob("*.jsonl"))
    if not samples:
        pytest.skip("the shared folder has no corpora/samples")
    for path in samples:
        session = Library().open(path)
        data = path.read_bytes()
        assert session.lines.total == counted(data)
        assert len(numbered(data) - reached(session)) == session.lines.repeated, path


def _usages(sessions: dict[str, Session]) -> dict[str, tuple[int, int, int, int]]:
    prices, found = PriceTable.load(), {}
    for session in sessions.values():
        counted_ = figures(session, prices)
        copied = session.history.usage if session.history is not None else Usage()  # ccusage counts it in both
        found[session.id] = _four(counted_.usage + counted_.agents_usage + copied)
    return {name: usage for name, usage in found.items() if any(usage)}


def _four(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write


def _ccusage(command: str, root: Path) -> dict[str, tuple[int, int, int, int]]:
    done = subprocess.run(
        [command, "session", "--json", "--offline"],
        env={**os.environ, "CLAUDE_CONFIG_DIR": str(root)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    return {
        one["period"]: (one[keys[0]], one[keys[1]], one[keys[2]], one[keys[3]])
        for one in json.loads(done.stdout)["session"]
    }


_FIGURES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _told_by_progress(root: Path) -> dict[str, tuple[int, int, int, int]]:
    """What subagents used that have no log, which ccusage leaves out: by session, read from the lines themselves."""
    found: dict[str, tuple[int, int, int, int]] = {}
    for log in root.glob("projects/*/*.jsonl"):
        logs = {path.stem.removeprefix("agent-") for path in log.with_suffix("").rglob("agent-*.jsonl")}
        requests: dict[tuple[str, str], tuple[int, ...]] = {}
        for line in log.read_bytes().splitlines():
            told = json.loads(line) if b'"agent_progress"' in line else {}
            said = told.get("data", {}).get("message", {})
            if told.get("type") != "progress" or said.get("type") != "assistant" or told["data"]["agentId"] in logs:
                continue
            key, usage = (said["message"]["id"], said["requestId"]), said["message"]["usage"]
            figures_ = tuple(usage[name] for name in _FIGURES)
            requests[key] = tuple(map(max, requests.get(key, figures_), figures_))
        if requests:
            input_, output, read, write = (sum(column) for column in zip(*requests.values(), strict=True))
            found[log.stem] = input_, output, read, write
    return found


def _with_progress(theirs: dict[str, tuple[int, int, int, int]], root: Path) -> dict[str, tuple[int, ...]]:
    told, none = _told_by_progress(root), (0, 0, 0, 0)
    return {name: tuple(map(sum, zip(one, told.get(name, none), strict=True))) for name, one in theirs.items()}


def test_tokens_of_each_session_equal_what_ccusage_counts_and_what_only_progress_tells(
    whole: dict[str, Session], claude: Path, ccusage: str
) -> None:
    theirs = _ccusage(ccusage, claude)
    assert len(theirs) > 60
    assert len(_told_by_progress(claude)) == 4
    assert _usages(whole) == _with_progress(theirs, claude)


def test_advisors_and_subagents_without_a_log_are_used_and_paid(tmp_path: Path, ccusage: str) -> None:
    root, archive = tmp_path / "claude", tmp_path / "kept"
    for log in (advised(), watched()):
        log.write(root)
    sync(archive, [root])
    rows = json.loads(told(usage_command, archive, "session", "--json"))["rows"]
    names = ("input", "output", "cache_read", "cache_write")
    assert {row["session"]: tuple(row[name] for name in names) for row in rows} == _with_progress(
        _ccusage(ccusage, root), root
    )
    by_model = {one["model"]: one["cost"] for row in rows for one in row["models"]}
    assert float(by_model[ADVISOR]) == 2.057


def test_a_listing_counts_copied_history_once_and_never_more_than_its_sessions(claude: Path) -> None:
    listing = Library([claude]).listing()
    together = sum((one.usage for one in listing.overviews), Usage())
    assert listing.failures == ()
    assert listing.usage.total <= together.total


def _differing(
    sdk: ModuleType, sessions: Iterator[tuple[str, Session]], root: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    found = []
    for name, session in sessions:
        theirs = tuple(message.uuid for message in sdk.get_session_messages(name))
        if theirs != session.live:
            found.append(f"{name}: {len(theirs)} lines there, {len(session.live)} here")
    return found


def test_the_live_path_of_real_logs_is_the_agents_own(
    whole: dict[str, Session], claude: Path, agent_sdk: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = ((session.id, session) for session in whole.values())
    assert _differing(agent_sdk, sessions, claude, monkeypatch) == []


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=thorough) for seed in (2, 3))])
def test_the_live_path_of_made_logs_is_the_agents_own(
    seed: int, made_corpus: Callable[[int, int], Path], agent_sdk: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made_corpus(seed, tries(20, 50))
    sessions = ((log.session_id, read_session(log)) for log in Library([root]).logs())
    assert _differing(agent_sdk, sessions, root, monkeypatch) == []


def test_overviews_of_real_logs_agree_with_whole_sessions(whole: dict[str, Session], claude: Path) -> None:
    shown = {one.log.path: one for one in Library([claude]).overviews()}
    prices = PriceTable.load()
    differing: dict[str, tuple[object, object]] = {}
    for path, session in whole.items():
        full, skim = figures(session, prices), shown[path]
        pairs = {
            "turns": (skim.turns, full.turns),
            "messages": (skim.messages, full.messages),
            "tool_calls": (skim.tool_calls, full.tool_calls),
            "tool_errors": (skim.tool_errors, full.tool_errors),
            "agents": (skim.agents, sum(1 for _ in family(session)) - 1),
            "compactions": (skim.compactions, full.compactions),
            "usage": (skim.usage, full.usage + full.agents_usage),
            "title": (skim.title, session.title),
            "kind": (skim.kind, session.kind),
            "times": ((skim.started, skim.ended), (session.started, session.ended)),
        }
        differing |= {f"{session.id} {key}": pair for key, pair in pairs.items() if pair[0] != pair[1]}
    assert differing == {}
