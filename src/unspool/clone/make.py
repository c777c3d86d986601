"""From a copy that is decided to one that is written: proven first, and remembered."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from unspool import __version__
from unspool.clone import companions, lineage
from unspool.clone.draught import Draught
from unspool.clone.publish import Paper, publish
from unspool.errors import Unsound
from unspool.formats.writing import Writer


def written(draught: Draught, path: Path, home: Path | None, cwd: str) -> lineage.Record:
    """Prove the copy, write and remember it. What goes along goes to `home`, the agent's folder, if there is one."""
    copy = draught.copy
    others = companions.carried(copy, path, home) if home is not None else ()
    files = publish(Paper(path, copy.chunks), others, proof(copy.writer))
    record = lineage.Record(
        session=copy.making.session,
        source=copy.identity.source,
        source_path=copy.original.found.path,
        command=draught.wish.command,
        options=draught.wish.options,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        title=copy.making.title,
        cwd=cwd,
        files=files,
        before=draught.before,
        after=msgspec.structs.replace(draught.after, bytes=files[0].size),
    )
    lineage.keep(record)
    return record


def proof(writer: Writer) -> Callable[[Path], None]:
    """Raises where a finished log breaks a rule."""

    def prove(path: Path) -> None:
        with path.open("rb") as lines:
            wrong = [one for one in writer.lint(lines, strict=True) if one.severity == "error"]
        if wrong:
            told = "\n".join(f"  line {one.line}: {one.message}" for one in wrong[:5])
            raise Unsound(f"The copy is not sound ({len(wrong)} faults), so it was not written:\n{told}")

    return prove
