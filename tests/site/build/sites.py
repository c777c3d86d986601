"""Sources to make sites of, and what a site holds."""

import os
from pathlib import Path

from tests.log_builder.builder import LogBuilder
from unspool.site.build.plan import BuildOptions, BuildReport, build_site
from unspool.store.library import Library


def session(number: int, words: str = "", folder: str = "/home/ada/loom") -> LogBuilder:
    """A session of one question."""
    log = LogBuilder(session_id=f"{number:08x}-0000-4000-8000-000000000000", cwd=folder)
    return log.prompt(words or f"Question {number}").assistant(log.text(f"Answer {number}."))


def put(source: Path, *logs: LogBuilder) -> Path:
    """Write sessions to a source."""
    for log in logs:
        log.write(source)
    return source


def made(source: Path, site: Path, **wanted: object) -> BuildReport:
    """Bring a site up to date with a source."""
    return build_site(Library([source]).logs(), site, BuildOptions(**wanted))  # type: ignore[arg-type]


def state(site: Path) -> dict[str, tuple[int, int]]:
    """Every file of a site with its inode and time: equal only where nothing was written."""
    found = {}
    for path in sorted(site.rglob("*")):
        status = os.lstat(path)
        found[str(path.relative_to(site))] = (status.st_ino, status.st_mtime_ns)
    return found


def contents(site: Path) -> dict[str, bytes]:
    """Every page and script of a site."""
    return {
        str(path.relative_to(site)): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def pages_of(site: Path, number: int) -> Path:
    """The folder of a session."""
    (folder,) = site.glob(f"*/{number:08x}-*")
    return folder
