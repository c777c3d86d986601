"""What is Gemini CLI's own: lines that replace all messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.stories.gemini import LINES, message, write
from unspool.model import Notice
from unspool.store.library import Library

HELD = [*LINES[1]["$set"]["messages"], *(line for line in LINES[2:] if "id" in line)]
SUMMARY = message(20, "user", [{"text": "<state_snapshot>The quay is mended.</state_snapshot>"}])
TOMORROW = message(21, "user", [{"text": "<session_context>\nAnother day\n</session_context>"}])


@pytest.mark.parametrize(
    ("held", "compactions"),
    [(HELD[:1], 0), (HELD, 0), ([TOMORROW], 0), ([TOMORROW, *HELD], 0), ([SUMMARY, HELD[-1]], 1), ([{"id": [1]}], 1)],
)
def test_only_a_summary_is_a_compaction(held: list[dict[str, Any]], compactions: int, tmp_path: Path) -> None:
    """A session that is resumed begins with what it holds already, and with the context of that day."""
    path = write(tmp_path)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*LINES, {"$set": {"messages": held}}]))
    (log,) = Library([tmp_path]).logs()
    session = Library([tmp_path]).open(log)
    notices = [block.kind for turn in session.turns for block in turn.blocks if isinstance(block, Notice)]
    assert notices.count("compaction") == compactions
