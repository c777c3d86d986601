"""The command that keeps an archive up to date, as something else is to start it: whole, and true from anywhere."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unspool.formats import FORMATS


class Job(NamedTuple):
    """What is kept where; every path absolute, because nobody knows where it will be started."""

    archive: Path
    sources: tuple[Path, ...] = ()
    key_file: Path | None = None
    more: tuple[str, ...] = ()
    """Further options of the watch, such as ("--poll", "30")."""

    def watch(self) -> tuple[str, ...]:
        return (*_unspool(), "watch", "-q", *self._where(), *self.more)

    def sync(self) -> tuple[str, ...]:
        return (*_unspool(), "sync", "-q", *self._where())

    def _where(self) -> tuple[str, ...]:
        key = ("--key-file", str(self.key_file)) if self.key_file else ()
        return (
            "--archive",
            str(self.archive),
            *key,
            *(word for one in self.sources for word in ("--source", str(one))),
        )


def job(archive: Path, sources: Sequence[Path], key_file: Path | None = None, more: Sequence[str] = ()) -> Job:
    """The job; folders that only this shell's environment names are spelled out, for others do not have it."""
    named = [*sources] or [root for format_ in FORMATS for root in _unusual(format_.roots(os.environ, Path.home()))]
    return Job(_absolute(archive), tuple(map(_absolute, named)), _absolute(key_file) if key_file else None, tuple(more))


def _unusual(roots: list[Path]) -> list[Path]:
    usual = {root for format_ in FORMATS for root in format_.roots({}, Path.home())}
    return [root for root in roots if root not in usual]


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100  links stay: they may be moved


def _unspool() -> tuple[str, ...]:
    """This very unspool. -P keeps the folder it is started in, which may be anybody's, from being imported from."""
    return (sys.executable, "-P", "-m", "unspool")


def fleeting() -> str:
    """A warning where this unspool lies in a cache that may be emptied; else nothing."""
    if {".cache", "Caches", "cache"} & set(Path(sys.executable).parts):
        return "note: this unspool runs from a cache that may be emptied; better install it for good first."
    return ""
