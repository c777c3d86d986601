"""Real logs, pushed: let in by the policy that they left by, given back byte for byte, counted as here."""

import shutil
from pathlib import Path

from tests.hub.sessions.team import Machine, Team, sessions
from tests.hub.sessions.test_found import figures
from tests.hub.sessions.test_push import kept, sent
from tests.thorough import tries
from unspool.store.index.billing import UsageFilter
from unspool.store.index.database import Index
from unspool.store.index.usage import usage_report
from unspool.store.sync import sync

_LARGEST = 400_000
_MOST = tries(3, 12)


def test_real_logs_come_back_as_they_left(shared: Path, crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    logs = sorted((shared / "corpora" / "claude" / "projects").glob("*/*.jsonl"), key=lambda log: log.stat().st_size)
    for log in [log for log in logs if log.stat().st_size < _LARGEST][-_MOST:]:
        there = machine.source / "projects" / log.parent.name
        there.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, there)
        if log.with_suffix("").is_dir():
            shutil.copytree(log.with_suffix(""), there / log.stem)
    assert {done.outcome for done in machine.push()} == {"pushed"}
    given = {name: data for one in sessions(machine) for name, data in kept(machine, str(one["id"])).items()}
    assert given == sent(machine, tmp_path / "again")
    sync(tmp_path / "archive", [machine.source])
    with Index.open(tmp_path / "archive") as index:
        here = usage_report(index, "model", UsageFilter())
    there_ = machine.member.get("/api/usage?by=model").json
    assert figures(there_["sum"]) == figures(here.sum)
    assert here.sum.requests > 20
