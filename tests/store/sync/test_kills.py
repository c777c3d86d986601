"""A sync that is killed at any moment loses nothing and doubles nothing, and the next one heals."""

import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.store.archive.making import clean
from tests.store.sync.changing import Changing, Held, complete, held, true, unlost
from tests.store.sync.dumped import differing, dump, generations_fit
from tests.store.sync.killing import dying, killed, started, syncing
from tests.thorough import tries
from unspool.store.sync import sync

KILLS = tries(6, 500)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is asked of the system")


class Trial:
    """A source, an archive of it, and what the archive has held so far."""

    def __init__(self, scratch: Path, seed: int) -> None:
        self.chosen = random.Random(seed)
        self.scratch = scratch
        self.folder = scratch / "archive"
        self.changing = Changing(scratch / "source", seed)
        self.held: Held = {}
        self.lasted = 0.2

    def kill(self) -> bool:
        """Sync a source that goes on changing, and kill it somewhere; whether it was done by then."""
        done = self.scratch / "done"
        done.unlink(missing_ok=True)
        self.changing.change()
        process = started(syncing, self.folder, self.changing.root, self.chosen.random() < 0.2, str(done))
        if self.chosen.random() < 0.5:
            time.sleep(self.chosen.uniform(0, self.lasted / 2))
            self.changing.change(1)
        killed(process, self.chosen.uniform(0, self.lasted))
        self.lasted = max(0.02, self.lasted * (0.8 if done.exists() else 1.15))  # so that most are met at work
        return done.exists()

    def check(self) -> None:
        """What was kept is there, and is true."""
        now = held(self.folder)
        unlost(self.held, now)
        true(now, self.changing)
        self.held = now

    def heal(self, *, whole: bool) -> None:
        """The next sync makes all good; with `whole`, so that an index made anew says the same."""
        report = sync(self.folder, [self.changing.root])
        assert report.failures == []
        self.check()
        complete(self.held, self.changing)
        if whole:
            generations_fit(self.folder)
            self.anew()

    def anew(self) -> None:
        other = self.scratch / "other"
        other.mkdir()
        shutil.copy(self.folder / "archive.db", other)
        sync(other, [self.changing.root])
        assert differing(dump(self.folder, states=True), dump(other, states=True)) == {}
        shutil.rmtree(other)


def test_nothing_is_lost_or_doubled_whenever_a_sync_is_killed(tmp_path: Path) -> None:
    trial = Trial(tmp_path, 1)
    kills = half = 0
    while kills < KILLS or half <= KILLS / 10:  # many are met when they had kept something, and not all
        before = trial.held
        whole = trial.kill()
        trial.check()
        kills += not whole
        half += trial.held != before and not whole
        if kills % 5 == 0 and not whole:
            clean(trial.folder)
            trial.heal(whole=True)
        elif trial.chosen.random() < 0.3:
            trial.heal(whole=False)
    trial.heal(whole=True)
    clean(trial.folder)


STEPS = {
    "archive, before anything is safe": ("unspool.store.archive.keeper", "Keeper.commit", 1),
    "archive, in the middle": ("unspool.store.archive.pack_writer", "Packer.flush", 2),
    "index, when all is kept": ("unspool.store.sync.run", "SyncWork._index_batch", 1),
    "index, in the middle": ("unspool.store.index.write", "IndexWriter.put", 3),
    "index, before what was put is seen": ("unspool.store.index.write", "IndexWriter.pause", 1),
    "index, before sessions are told of each other": ("unspool.store.sync.run", "SyncWork._settle", 1),
    "ghosts": ("unspool.store.sync.ghosts", "GhostIndexer.all", 1),
    "at the end": ("unspool.store.sync.run", "Index.note", 3),
}


@pytest.mark.parametrize("where", STEPS)
def test_a_sync_that_is_killed_at_a_step_is_healed_by_the_next(tmp_path: Path, where: str) -> None:
    trial = Trial(tmp_path, 2)
    ghost = b'{"display":"where did it go","timestamp":1,"project":"/p","sessionId":"gone"}\n'
    (trial.changing.root / "history.jsonl").write_bytes(ghost)
    trial.changing.versions["history.jsonl"] = [ghost]
    for _ in range(2):
        trial.changing.change(6)
        process = started(dying, trial.folder, trial.changing.root, *STEPS[where])
        process.join(120)
        assert process.exitcode == -signal.SIGKILL
        trial.check()
    trial.heal(whole=True)
    sync(trial.folder, [trial.changing.root])  # what changed within a tick of the clock is read once more
    assert sync(trial.folder, [trial.changing.root]).parsed == 0
    clean(trial.folder)
