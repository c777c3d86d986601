"""Thousands of damaged logs of all other agents: `python -m bench.fuzz_agents FOLDER EXAMPLES SEED`. None may raise,
and of every log of lines each line is accounted for. FOLDER holds one folder an agent, laid out as on a disk."""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from msgspec.structs import replace

from bench.fuzz import LARGEST
from bench.mutate import mutant
from unspool.agents import FoundLog, by_id
from unspool.agents.lines import is_blank
from unspool.errors import UnspoolError
from unspool.figures import figures
from unspool.prices import PriceTable
from unspool.store.library import Library
from unspool.store.library.read import assemble, count_log, read_transcript


def originals(folder: Path) -> dict[str, list[tuple[FoundLog, bytes]]]:
    """Logs by agent, each no more than a piece of it."""
    found: dict[str, list[tuple[FoundLog, bytes]]] = {}
    for source in sorted(one for one in folder.iterdir() if one.is_dir()):
        for root in (source, *(one for one in source.iterdir() if one.is_dir())):
            for log in Library([root]).logs():
                if log.agent_id != "claude-code" and not log.path.endswith(".zst"):
                    found.setdefault(log.agent_id, []).append((log, _piece(Path(log.path))))
    return found


def _piece(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix != ".jsonl":
        return data[:LARGEST] if len(data) > 4 * LARGEST else data
    end = data.rfind(b"\n", 0, LARGEST) + 1
    return data[:end] if len(data) > LARGEST and end else data[: 4 * LARGEST]


def complaint(log: FoundLog, data: bytes, path: Path) -> str:
    """Why a log is not read right; empty where it is. Any exception at all is the finding looked for here."""
    path.write_bytes(data)
    agent, here = by_id(log.agent_id), replace(log, path=str(path), size=len(data), agents=(), versions=())
    try:
        transcript = read_transcript(str(path), agent, here)
        session = assemble(agent, here, transcript, [])
        figures(session, PriceTable.load())
        count_log(here)
    except UnspoolError:
        return ""
    except Exception as error:  # noqa: BLE001
        return f"{log.agent_id}: {type(error).__name__}: {error}"
    if path.suffix != ".jsonl":
        return ""
    told = {event.place.line for event in transcript.events}
    numbered = enumerate(data.split(b"\n"), 1)
    lines = {number for number, line in numbered if not is_blank(line) and line.strip(b"\0 \t\r")}
    missing = sorted(lines - told)
    return f"{log.agent_id}: line {missing[0]} of {len(lines)} is lost" if missing else ""


def failures(folder: Path, examples: int, seed: int) -> Iterator[str]:
    logs, tried = originals(folder), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(examples):
            random = Random(f"{seed}/{number}")
            agent = random.choice(sorted(logs))
            tried[agent] += 1
            log, data = random.choice(logs[agent])
            why = complaint(log, mutant(data, random), Path(scratch) / Path(log.path).name)
            if why:
                yield f"{number}: {why}"
    sys.stderr.write(f"{dict(tried)}\n")


if __name__ == "__main__":
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        bad = list(failures(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps(bad[:20], indent=1))
    sys.stderr.write(f"{len(bad)} bad of {sys.argv[2]} in {time.monotonic() - began:.0f} s\n")
