"""The validator's idea of what the agent resumes, held against Anthropic's own reader."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.copies.damage import DAMAGES, not_utf8
from tests.copies.made_logs import VERSIONS, made
from unspool.agents.claude_code.lint.lines import Findings, LintChain, read_lines
from unspool.agents.claude_code.mending import repair_log

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def ours(lines: list[bytes]) -> list[str]:
    """The ids of the lines that a person sees of what is resumed."""
    chain = LintChain(read_lines(lines, Findings(strict=False)))
    return list(chain.live.ids(chain.tree.leaf()))


def theirs(sdk: ModuleType, root: Path, lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    place = root / "projects" / "-home-dev-harbour" / f"{SESSION}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"".join(lines))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    return [message.uuid for message in sdk.get_session_messages(SESSION)]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_same_lines_are_resumed(
    version: str, agent_sdk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = made(version, list(range(9)) * 2)
    assert ours(lines) == theirs(agent_sdk, tmp_path, lines, monkeypatch)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_the_same_lines_are_resumed_of_damaged_and_of_mended_logs(
    damage: Callable[[list[bytes], int], list[bytes]],
    agent_sdk: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in (3, 8):
        lines = damage(made("2.1.230", [2, 1, 0, 4, 6, 8, 1]), number)
        if damage is not not_utf8:  # which their reader refuses as a whole
            assert ours(lines) == theirs(agent_sdk, tmp_path, lines, monkeypatch)
        after = repair_log(lines).lines
        assert ours(after) == theirs(agent_sdk, tmp_path, after, monkeypatch)


def _logs(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*.jsonl")) if not path.stem.startswith("agent-"))


def test_the_same_lines_are_resumed_of_real_logs(
    shared: Path, agent_sdk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = list(_logs(shared / "corpora" / "claude"))
    differing = []
    for path in logs:
        lines = path.read_bytes().splitlines(keepends=True)
        if ours(lines) != theirs(agent_sdk, tmp_path, lines, monkeypatch):
            differing.append(path.name)
    assert len(logs) > 60
    assert differing == []
