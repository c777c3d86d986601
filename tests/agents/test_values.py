"""Files that lie where an agent's should, whatever they are."""

import os
from pathlib import Path

import pytest

from unspool.agents.values import first_bytes, plain_bytes


def test_how_a_file_begins_is_read_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"0123456789")
    assert (first_bytes(path, 4), first_bytes(path, 40), plain_bytes(path)) == (b"0123", b"0123456789", b"0123456789")
    assert first_bytes(tmp_path / "gone.jsonl") == b""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
def test_what_is_no_plain_file_is_refused_and_not_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        for name in ("pipe.jsonl", "folder.jsonl"):
            assert first_bytes(tmp_path / name) == b""
            with pytest.raises(OSError, match="no plain file"):
                plain_bytes(tmp_path / name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
