"""Usage of synced logs, beside what their maker knows of them, beside the parser, and beside a peer's answer."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unspool.store.index.billing import UsageFilter, exact_dollars
from unspool.store.index.database import Index
from unspool.store.index.five_hour_blocks import five_hour_blocks
from unspool.store.index.times import written_time
from unspool.store.index.usage import usage_report
from unspool.store.library import Library
from unspool.store.sync import sync

NAMES = ("input_tokens", "output_tokens", "cache_read", "cache_write")


@pytest.fixture(scope="module")
def made(made_corpus: Callable[[int, int], Path]) -> Path:
    return made_corpus(1, 5)


@pytest.fixture(scope="module")
def index(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("archive")
    sync(folder, [made])
    with Index.open(folder, readonly=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def sessions(made: Path) -> list[dict[str, Any]]:
    truth: list[dict[str, Any]] = json.loads((made / "truth.json").read_bytes())["sessions"]
    return truth


def test_every_session_used_what_its_maker_knows(index: Index, sessions: list[dict[str, Any]]) -> None:
    used = {row.key: row.sum for row in usage_report(index, "session").rows}
    for one in sessions:
        told = tuple(one[name] + one[f"agent_{name}"] for name in NAMES)
        found = used[one["session"]]
        assert (found.input, found.output, found.cache_read, found.cache_write) == told
    assert len(used) == len(sessions)


def test_subagents_with_own_logs_used_what_their_maker_knows(index: Index, sessions: list[dict[str, Any]]) -> None:
    used: dict[str, int] = {}
    for row in usage_report(index, "subagent").rows:
        if row.key:
            used[row.session] = used.get(row.session, 0) + row.sum.output
    told = {one["session"]: one["agent_output_tokens"] for one in sessions}
    assert len(used) > 5
    assert used == {session: told[session] for session in used}


def test_real_logs_cost_what_a_list_of_them_says(shared: Path, tmp_path: Path) -> None:
    source = shared / "corpora" / "claude"
    sync(tmp_path, [source])
    listing = Library([source]).listing()
    with Index.open(tmp_path, readonly=True) as opened:
        found = usage_report(opened).sum
    said = listing.usage
    assert (found.input, found.output, found.cache_read, found.cache_write) == (
        said.input, said.output, said.cache_read, said.cache_write,
    )  # fmt: skip
    assert exact_dollars(found.cost) == str(listing.cost.amount.normalize())


def asked(ccusage: str, source: Path, report: str) -> dict[str, Any]:
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(source), "TZ": "UTC"}
    command = [ccusage, report, "--json", "--offline"]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_total_is_the_peers(index: Index, made: Path, ccusage: str) -> None:
    said, found = asked(ccusage, made, "daily")["totals"], usage_report(index).sum
    assert (found.input, found.output) == (said["inputTokens"], said["outputTokens"])
    assert (found.cache_read, found.cache_write) == (said["cacheReadTokens"], said["cacheCreationTokens"])
    assert float(exact_dollars(found.cost)) == pytest.approx(said["totalCost"])


def test_blocks_and_gaps_are_the_peers(index: Index, made: Path, ccusage: str) -> None:
    said = asked(ccusage, made, "blocks")["blocks"]
    assert [
        (written_time(one.start), written_time(one.end), one.gap, one.sum.total)
        for one in five_hour_blocks(index, UsageFilter()).rows
    ] == [
        (one["startTime"].replace(".000Z", "Z"), one["endTime"].replace(".000Z", "Z"), one["isGap"], one["totalTokens"])
        for one in said
    ]
    assert len(said) > 1
