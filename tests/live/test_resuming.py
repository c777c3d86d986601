"""Copies are judged by the agent itself: it resumes each, and sends what the copy promised."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.live.conftest import AT_ONCE, Live
from tests.live.copies import ACTS, Bench, Case, bench, cases, thorough
from tests.live.stage import Stage
from unspool.store.library import Library

SAMPLE = 4
"""Sessions that each way of copying is tried on, unless UNSPOOL_THOROUGH is set."""

SMALLEST, LARGEST, CHOSEN = 20_000, 3_000_000, 20
"""Which real logs are taken: every n-th by name of those within these sizes."""


def failures(all_cases: Sequence[Case], config: Path, folder: Path) -> list[str]:
    """What is wrong with copies, made and resumed on benches beside each other."""

    def some(number: int) -> list[str]:
        with Stage() as stage:
            here = bench(stage, folder / str(number), config)
            mine = all_cases[number::AT_ONCE]
            return [f"{case}: {why}" for case in mine if (why := here.judge(case))]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [line for lines in pool.map(some, range(AT_ONCE)) for line in lines]


def sampled(sessions: Sequence[tuple[str, str]], config: Path) -> list[Case]:
    """Each way on sessions that lie evenly spread, and others than the way before it."""
    if thorough():
        return [case for name, one in sessions for case in cases(name, one, config)]
    step = max(1, len(sessions) // SAMPLE)
    found = []
    for number, act in enumerate(ACTS):
        chosen = [sessions[(at * step + number) % len(sessions)] for at in range(SAMPLE)]
        for name, one in chosen:
            of_it = list(cases(name, one, config, [act]))
            found += of_it[len(of_it) // 2 :][:1]
    return found


def test_copies_of_sessions_of_today_are_resumed(live_claude: Live, tmp_path: Path) -> None:
    """Presets, forks, moves, repairs and imports of what the scenarios left."""
    sessions = [(name, one) for name, ids in live_claude.sessions.items() for one in ids]
    wrong = failures(sampled(sessions, live_claude.config), live_claude.config, tmp_path)
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent's folder with real sessions, each moved to a folder that is there."""
    folder = tmp_path_factory.mktemp("real")
    logs = sorted(shared.glob("corpora/claude/projects/*/*.jsonl"))
    fitting = [log for log in logs if SMALLEST < log.stat().st_size < LARGEST and not log.name.startswith("agent-")]
    if not fitting:
        pytest.skip("no real logs in the folder `shared`")
    for log in fitting[:: max(1, len(fitting) // CHOSEN)][:CHOSEN]:
        place = folder / "config" / "projects" / log.parent.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, place)
        if log.with_suffix("").is_dir():
            shutil.copytree(log.with_suffix(""), place / log.stem)
    return folder


def test_copies_of_real_sessions_are_resumed(real: Path, tmp_path: Path) -> None:
    """The same of logs of many versions, which first move to a folder of this machine."""
    moved: list[tuple[str, str]] = []
    with Stage() as stage:
        here = Bench(stage, real)
        for log in Library([here.config]).logs():
            place = real / "places" / log.session_id
            place.mkdir(parents=True)
            moved.append((log.session_id[:8], str(here.unspool("move", log.session_id, "--to", str(place))["session"])))
    wrong = failures(sampled(sorted(moved), here.config), here.config, tmp_path)
    assert not wrong, "\n" + "\n".join(wrong)
