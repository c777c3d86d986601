"""Blame against repositories with known authors: right where it is sure, and unknown where nobody knows."""

from collections import Counter
from pathlib import Path
from typing import Any

from tests.store.index.synced import kept
from tests.store.library.authored import AuthoredRepository, harbour
from unspool.errors import NotFound
from unspool.store.index.database import Index
from unspool.store.library import Library
from unspool.store.library.blame import Blame, BlameSources, blame_file


def blamed(made: AuthoredRepository, folder: Path, at: str = "", gone: tuple[str, ...] = ()) -> Blame:
    archive = kept(folder, *made.sessions)
    library = Library([folder / "source"])
    logs = {log.session_id: log for log in library.logs()}

    def opened(key: str) -> Any:
        if key in gone:
            raise NotFound("gone")
        return library.open(logs[key])

    with Index.open(archive, readonly=True) as index:
        return blame_file(BlameSources(index.db, opened, library.companions), made.path, at)


def claims(found: Blame) -> list[str]:
    """Whose each line is said to be."""
    return [
        f"session:{found.changes[line.change].session}" if line.change is not None else line.who for line in found.lines
    ]


def test_made_repositories_have_the_authors_that_made_them(tmp_path: Path) -> None:
    """At least 99 % of the lines that are said to be exact are, and below 0.5 % of all are said to be another's."""
    exact, right, wrong, unknown = Counter[bool](), 0, [], 0
    for seed in range(24):
        folder = tmp_path / str(seed)
        made = harbour(folder, seed)
        found = blamed(made, folder)
        assert [line.text for line in found.lines] == made.lines
        for line, said, truth in zip(found.lines, claims(found), made.truth, strict=True):
            if line.sure == "exact":
                exact[said == truth] += 1
            right += said == truth
            unknown += said == "unknown"
            if said not in (truth, "unknown"):
                wrong.append((seed, line.number, line.text, line.sure, said, truth))
    lines = right + unknown + len(wrong)
    assert exact[True] / exact.total() >= 0.99, wrong[:5]
    assert len(wrong) / lines < 0.005, wrong[:9]
    assert right / lines > 0.9, (right, unknown, lines)
