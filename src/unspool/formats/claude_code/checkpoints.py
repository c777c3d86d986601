"""What lines beside the conversation tell of files that were put aside: snapshots of many, and one at a time."""

import posixpath
from collections.abc import Iterable, Iterator

from unspool.formats.claude_code.values import mapping, moment, text
from unspool.formats.traces import Checkpoint
from unspool.model import Json, SideLine


def checkpoints(side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
    """Every file put aside, in the order of the log, a repetition left out."""
    seen: set[Checkpoint] = set()
    for line in side:
        for path, backup in _told(line):
            found = _checkpoint(path, mapping(backup), cwd)
            if found is not None and found not in seen:
                seen.add(found)
                yield found


def _told(line: SideLine) -> Iterator[tuple[str, Json]]:
    if line.type == "file-history-snapshot":
        yield from mapping(mapping(line.data.get("snapshot")).get("trackedFileBackups")).items()
    elif line.type == "file-history-delta":
        yield text(line.data.get("trackingPath")), line.data.get("backup")


def _checkpoint(path: str, backup: dict[str, Json], cwd: str) -> Checkpoint | None:
    time = moment(backup.get("backupTime"))
    if not path or time is None or "backupFileName" not in backup:
        return None
    plain = path.replace("\\", "/")
    whole = plain if plain.startswith("/") or plain[1:2] == ":" else posixpath.join(cwd.replace("\\", "/"), plain)
    return Checkpoint(whole, time, text(backup["backupFileName"]))
