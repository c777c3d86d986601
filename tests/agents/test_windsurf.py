"""What is Windsurf's own: lines that hold a call and its answer."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.windsurf import line
from unspool.model import ToolCall
from unspool.store.library import Library


def calls(folder: Path, *lines: dict[str, Any]) -> list[ToolCall]:
    told = [line("user_input", user_response="Look"), *lines]
    (folder / "one.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    session = Library([folder]).open("one")
    return [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]


def test_a_call_ends_as_its_line_says(tmp_path: Path) -> None:
    found = calls(
        tmp_path,
        line("view_file", path="file:///home/ada/the%20quay/a.py", content="all of it", start_line=0),
        line("list_resources", "error", server_name="memory"),
        line("run_command", command="rm", user_rejected=True),
        line("code_action", path="file:///a", original_content="x", acknowledgement_type="ACKNOWLEDGEMENT_TYPE_REJECT"),
        line("grep_search", "running", query="quay"),
    )
    assert [one.end for one in found[:4]] == ["ok", "failed", "refused", "refused"]
    assert found[4].result is None
    assert found[0].input == {"path": "/home/ada/the quay/a.py", "start_line": 0}
    assert found[0].result is not None
    assert found[0].result.text == "all of it"


def test_a_file_without_an_original_is_new(tmp_path: Path) -> None:
    (found,) = calls(tmp_path, line("code_action", path="file:///a.py", new_content="x\n"))
    assert found.role == "write"
