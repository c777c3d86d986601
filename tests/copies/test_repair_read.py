"""Mended copies, read by Anthropic's own reader: listed by their title, with the messages that would be sent."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.resumed_messages import rebuilt
from tests.cli.running import run
from tests.copies.damage import DAMAGES, Damage, reversed_end
from tests.copies.made_logs import made

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def _blocks(content: Any) -> list[str]:
    found = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [json.dumps(block, sort_keys=True) for block in found]


WRITTEN = [damage for damage in DAMAGES if damage is not reversed_end]
"""What the agent itself copes with is not copied."""


@pytest.mark.parametrize("damage", WRITTEN, ids=lambda damage: damage.__name__)
def test_a_mended_copy_is_listed_and_read(
    damage: Damage, agent_sdk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No remark of the agent's own is in the log, so that every block sent is one that a person sees."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    place = tmp_path / "projects" / "-home-dev-harbour" / f"{SESSION}.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"".join(damage(made("2.1.230", [2, 1, 0, 4, 3, 1]), 5)))
    done = run("repair", SESSION, "--json", "--title", "As good as new")
    assert done.code == 0, done.err
    session = json.loads(done.out)["session"]
    titles = {one.session_id: one.custom_title for one in agent_sdk.list_sessions()}
    assert titles[session] == "As good as new"
    read = [block for one in agent_sdk.get_session_messages(session) for block in _blocks(one.message["content"])]
    copy = place.with_name(f"{session}.jsonl").read_bytes().splitlines(keepends=True)
    sent = [block for message in rebuilt(copy) for block in _blocks(message["content"])]
    assert sorted(read) == sorted(sent)
    assert len(read) > 10
