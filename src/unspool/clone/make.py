"""From a copy that is decided to one that is written: proven first, and remembered."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from unspool import __version__
from unspool.clone import companions, lineage
from unspool.clone.draught import Draught
from unspool.clone.publish import Paper, Published, published
from unspool.errors import Unsound
from unspool.formats.findings import Finding
from unspool.formats.writing import Writer

_TOLD = 5


def written(draught: Draught, path: Path, home: Path | None, cwd: str) -> lineage.Record:
    """Prove the copy, write and remember it; all of that, or nothing.

    What goes along goes beside a log that bears the copy's own id, and to `home`, the agent's folder, if there is one.
    """
    copy = draught.copy
    along = companions.carried(copy, path, home) if path.stem == copy.making.session else ()
    with published(Paper(path, copy.chunks), along, proof(copy.writer, copy.original.path)) as done:
        record = _record(draught, done, cwd)
        lineage.keep(record)
    return record


def _record(draught: Draught, done: Published, cwd: str) -> lineage.Record:
    copy, wish = draught.copy, draught.wish
    ids = copy.identity.ids
    shortened = {*wish.texts, *lineage.compressed(copy.identity.source)}
    return lineage.Record(
        session=copy.making.session,
        source=copy.identity.source,
        source_path=copy.original.path,
        command=wish.command,
        options=wish.options,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        title=copy.making.title,
        cwd=cwd,
        files=done.files,
        before=draught.before,
        after=msgspec.structs.replace(draught.after, bytes=done.files[0].size),
        folders=done.folders,
        compressed=[ids[line] for line in ids if line in shortened],
    )


def proof(writer: Writer, source: str = "") -> Callable[[Path], None]:
    """Raises where a finished log breaks a rule; `source` is what a person may have mended."""

    def prove(path: Path) -> None:
        with path.open("rb") as lines:
            wrong = [one for one in writer.lint(lines, strict=True) if one.severity == "error"]
        if wrong:
            raise Unsound(_faults(wrong, source))

    return prove


def _faults(wrong: Sequence[Finding], source: str) -> str:
    told = [f"  line {one.line}: {one.message}" for one in wrong[:_TOLD]]
    more = [f"  and {len(wrong) - _TOLD:,} more"] if len(wrong) > _TOLD else []
    hint = [f"`unspool repair {source}` writes a mended copy, where the session itself is damaged."] if source else []
    count = "1 fault" if len(wrong) == 1 else f"{len(wrong):,} faults"
    return "\n".join([f"The copy is not sound ({count}), so it was not written:", *told, *more, *hint])
