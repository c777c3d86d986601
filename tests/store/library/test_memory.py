"""Listing keeps memory flat: neither the size of a log nor the length of a line matters much."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder

MB = 1_000_000
LIMIT = 300
PROGRAM = """
import json, resource, sys
from pathlib import Path
from unspool.store.library import Library
(shown,) = Library([Path(sys.argv[1])]).overviews()
status = Path("/proc/self/status")
if status.exists():  # on Linux the other figure begins with that of the process that started this one
    peak = int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
print(json.dumps({"peak": peak, "lines": shown.lines, "turns": shown.turns}))
"""


def huge(path: Path) -> int:
    """Write a log of 150 MB with one line of 40 MB; gives the number of its lines."""
    log = LogBuilder().prompt("Read it all")
    use = log.use("Bash", command="cat big")
    log.assistant(use).result(use, "HOLE")
    head, tail = log.to_bytes().split(b"HOLE")
    other = log.call("Bash", {"command": "cat big"}, "x" * 200_000).to_bytes()[len(head) + 4 + len(tail) :]
    lines = head.count(b"\n") + 1
    with path.open("wb") as out:
        out.write(head)
        out.writelines(b"0123456789abcdef" * (MB // 16) for _ in range(40))
        out.write(tail)
        number = 0
        while out.tell() < 150 * MB:
            number += 1
            out.write(other.replace(b"msg_", b"msg_%d_" % number).replace(b"toolu_", b"toolu_%d_" % number))
            lines += other.count(b"\n")
    return lines


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is asked of the resource module")
def test_a_huge_log_with_a_huge_line_is_listed_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-p" / "aaaa1111-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    lines = huge(path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, check=True, timeout=120
    )
    told = json.loads(done.stdout)
    path.unlink()
    assert (told["lines"], told["turns"]) == (lines, 1)
    assert told["peak"] < LIMIT
