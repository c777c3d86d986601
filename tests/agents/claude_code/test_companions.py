"""Files beside a log: only plain files of the session's own are read."""

import os
from pathlib import Path

import pytest

from unspool.agents.base import FoundLog
from unspool.agents.claude_code.companions import Companions


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "p" / "s" / "tool-results"
    folder.mkdir(parents=True)
    return folder


def beside(kept: Path) -> Companions:
    return Companions(FoundLog(str(kept.parent.parent / "s.jsonl"), "s", "", 0, 0.0))


def test_a_spilled_output_is_read_back(kept: Path) -> None:
    (kept / "x.txt").write_text("all of it")
    assert beside(kept).spill("x.txt") == "all of it"


def test_a_link_out_of_the_session_is_not_followed(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("nobody's business")
    (kept / "x.txt").symlink_to(tmp_path / "private.txt")
    assert beside(kept).spill("x.txt") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_waited_for(kept: Path) -> None:
    os.mkfifo(kept / "x.txt")
    assert beside(kept).spill("x.txt") is None


@pytest.mark.parametrize("name", ["", "..", "../s.jsonl", "a/b", "a\\b", "x\0y"])
def test_only_names_are_taken_from_a_log(kept: Path, name: str) -> None:
    assert beside(kept).spill(name) is None
