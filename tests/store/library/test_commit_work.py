"""Commits with their sessions: whose lines they brought, against repositories with known authors."""

from pathlib import Path
from typing import Any

from tests.store.index.synced import kept
from tests.store.library.authored import AuthoredRepository, harbour
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.library.commit_work import CommitWork, CommitWorks
from unspool.store.library.git_repository import GitRepository


def commits(made: AuthoredRepository, folder: Path) -> list[CommitWork]:
    archive, library = kept(folder, *made.sessions), Library([folder / "source"])
    logs = {log.session_id: log for log in library.logs()}

    def opened(key: str) -> Any:
        return library.open(logs[key])

    repository = GitRepository.around(made.top)
    assert repository is not None
    with Index.open(archive, readonly=True) as index:
        return list(CommitWorks(index.db, repository, opened).newest("HEAD", 100))


def test_commits_of_agents_are_theirs_and_those_of_a_person_are_not(tmp_path: Path) -> None:
    seen = set()
    for seed in range(6):
        made = harbour(tmp_path / str(seed), seed)
        for one in commits(made, tmp_path / str(seed)):
            kind = one.subject.split()[0]
            seen.add(kind)
            if kind in ("Round", "A"):
                assert one.agent_lines == one.lines, one
                assert len(one.sessions) == 1
                assert one.cost is not None
            elif kind == "By":
                assert (one.agent_lines, one.sessions, one.cost) == (0, (), None), one
    assert {"Round", "By", "A"} <= seen


def test_a_session_s_cost_goes_to_each_of_its_commits_once(tmp_path: Path) -> None:
    made = AuthoredRepository(tmp_path, 3)
    log = made.session("Build two things")
    for number in (1, 2):
        made.agent_writes(log)
        log.wait(600)
        made._now = log.now
        made.commit(f"Thing {number}", log)
        log.wait(600)
    second, first = commits(made, tmp_path)
    whole = Library([tmp_path / "source"]).overviews()[0].cost
    assert first.cost is not None
    assert second.cost is not None
    assert 0 < first.cost < whole
    assert first.cost + second.cost <= whole
