"""A sync keeps memory flat, in its own process and in every other that it starts.

200 MB when thorough, which take half a minute or so.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.thorough import tries

LIMIT = 400
MB = tries(20, 200)
PROGRAM = """
import json, sys
from pathlib import Path
import unspool.store.sync.readers as pool

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

real, told = pool.extract_rows, Path(sys.argv[3])

def watched(job, prices):
    rows = real(job, prices)
    (told / str(__import__("os").getpid())).write_text(str(peak()))
    return rows

pool.extract_rows = watched
from unspool.store.sync import sync
report = sync(Path(sys.argv[1]), [Path(sys.argv[2])])
others = {int(path.name): float(path.read_text()) for path in told.iterdir()}
print(json.dumps({"peak": peak(), "others": list(others.values()), "parsed": report.parsed, "seconds": report.seconds}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is asked of /proc")
def test_a_large_source_is_synced_in_little_memory(made_corpus: Callable[[int, int], Path], tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "archive"), str(made_corpus(1, MB)), str(told)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600)
    peaks = json.loads(done.stdout)
    assert peaks["parsed"] > MB / 2
    assert peaks["others"], "no other process read anything"
    assert max(peaks["peak"], *peaks["others"]) < LIMIT, peaks
