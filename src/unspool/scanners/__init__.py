"""Scanners: what in sessions a person should look at, found by rules.

To add one: a file with a `SCANNER`, and its name below. One's own come by the entry point `unspool.scanners`, or by a
file that is named.
"""

import importlib.metadata
import importlib.util
from pathlib import Path

from unspool.errors import UsageProblem
from unspool.model import Session
from unspool.scanners import tests_claimed, unclean_end
from unspool.scanners.base import Scanner, SessionFlag

SCANNERS: tuple[Scanner, ...] = (tests_claimed.SCANNER, unclean_end.SCANNER)
_GROUP = "unspool.scanners"


def own_scanners(files: tuple[Path, ...] = ()) -> tuple[Scanner, ...]:
    """Scanners of installed packages, and of files that are named."""
    found = [entry.load() for entry in importlib.metadata.entry_points(group=_GROUP)]
    found += [_from_file(path) for path in files]
    wrong = next((one for one in found if not isinstance(one, Scanner)), None)
    if wrong is not None:
        raise UsageProblem(f"{wrong!r} is no Scanner.")
    return tuple(found)


def _from_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(f"unspool_scanner_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageProblem(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, "SCANNER", None)
    if found is None:
        raise UsageProblem(f"{path} has no SCANNER.")
    return found


def scan_session(session: Session, scanners: tuple[Scanner, ...] = SCANNERS) -> list[SessionFlag]:
    """All flags of a session, in the order of its turns."""
    return sorted((flag for one in scanners for flag in one.scan(session)), key=lambda flag: flag.turn)
