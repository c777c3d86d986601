"""Many requests at once, by wrk: how many answers a second, and how long nearly all of them took at most."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import run
from bench.serving import Server

READERS, THREADS = 16, 2
SECONDS = 5
_SCRIPT = """
local paths = {%s}
local at = 0
request = function()
  at = at %% #paths + 1
  return wrk.format("GET", paths[at])
end
done = function(summary, latency, requests)
  local e = summary.errors
  local bad = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format('\\n{"requests": %%d, "us": %%d, "bad": %%d, "p50": %%d, "p99": %%d}\\n',
    summary.requests, summary.duration, bad, latency:percentile(50), latency:percentile(99)))
end
"""
"""Asks for paths one after the other, and tells what came of it as JSON."""


@dataclass(frozen=True)
class Load:
    """What a server bore."""

    rate: float = 0.0
    """Answers a second."""
    p50: float = 0.0
    """Milliseconds."""
    p99: float = 0.0
    failed: str = ""

    @property
    def told(self) -> str:
        return self.failed or f"{self.rate:.0f} a second, p50 {self.p50:.1f} ms, p99 {self.p99:.1f} ms"


def program() -> str | None:
    """None where it is not installed."""
    return os.environ.get("UNSPOOL_WRK")


def load(server: Server, paths: Sequence[str], seconds: int = SECONDS) -> Load:
    """Ask for these paths again and again, by several readers at once. An answer other than 200 is a failure."""
    return asked(server.address, server.headers, paths, seconds)


def asked(
    address: str, headers: Mapping[str, str], paths: Sequence[str], seconds: int = SECONDS, readers: int = READERS
) -> Load:
    """The same of a server at an address, with headers of one's own."""
    if not program():
        return Load(failed="wrk is not installed")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "ask.lua"
        script.write_text(_SCRIPT % ", ".join(json.dumps(path) for path in paths))
        said = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
        how = [f"-t{min(THREADS, readers)}", f"-c{readers}", f"-d{seconds}s", "--timeout", "60s", "-s", str(script)]
        done = run([program() or "wrk", *how, *said, address])
    return Load(failed=done.failed) if done.failed else _load(done.output)


def _load(output: str) -> Load:
    told = json.loads(output.strip().splitlines()[-1])
    if not told["requests"]:
        return Load(failed="no answer in all that time")
    if told["bad"]:
        return Load(failed=f"{told['bad']} of {told['requests']} requests failed")
    return Load(told["requests"] / told["us"] * 1e6, told["p50"] / 1000, told["p99"] / 1000)
