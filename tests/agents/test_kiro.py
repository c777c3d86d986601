"""What is Kiro's own: the file beside a log, and how commands end."""

import json
from pathlib import Path

from tests.agents.stories.kiro import SESSION, write
from tests.cli.running import run
from unspool.model import ToolCall
from unspool.store.library import Library


def test_the_file_beside_a_log_tells_folder_title_and_model(tmp_path: Path) -> None:
    write(tmp_path)
    session = Library([tmp_path]).open(SESSION)
    assert (session.cwd, session.title) == ("/home/ada/quay", "Mend the quay")
    assert "qwen3-coder-next" in run("show", SESSION, "-s", str(tmp_path)).out


def test_a_log_without_that_file_is_read(tmp_path: Path) -> None:
    write(tmp_path).with_suffix(".json").unlink()
    assert len(Library([tmp_path]).open(SESSION).turns) == 2


def test_a_tool_that_failed_by_itself_says_so(tmp_path: Path) -> None:
    path = write(tmp_path)
    told = {"toolUseId": "c3", "content": [{"kind": "text", "data": "not there"}], "status": "error"}
    content = [{"kind": "toolResult", "data": told}]
    line = {"version": "v1", "kind": "ToolResults", "data": {"message_id": "m6", "content": content}}
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:7], json.dumps(line)]) + "\n")
    session = Library([tmp_path]).open(SESSION)
    calls = [block for turn in session.turns for block in turn.blocks if isinstance(block, ToolCall)]
    assert [(one.end, one.result and one.result.text) for one in calls][-1] == ("failed", "not there")
