"""Lines of a log made from lines of another, as Claude Code itself would accept them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from unspool.formats.claude_code.writing import editing, envelope, leaving, moving, placing, references
from unspool.formats.findings import Finding, Mended
from unspool.formats.writing import Cuts, Identity, Link, Preserved


class Writer:
    """What `Format.writer` gives."""

    def edited(self, raw: bytes, line: str, cuts: Cuts) -> bytes | None:
        return editing.edited(raw, line, cuts)

    def renewed(self, raw: bytes, identity: Identity, link: Link) -> bytes:
        return envelope.renewed(raw, identity, link)

    def beside(self, raw: bytes, identity: Identity) -> bytes | None:
        return envelope.beside(raw, identity)

    def closing(self, identity: Identity, title: str) -> Iterator[bytes]:
        return envelope.closing(identity, title)

    def relocated(self, data: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
        return moving.relocated(data, paths)

    def moves(self, old: str, new: str, homes: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        return moving.moves(old, new, homes)

    def preserved(self, raw: bytes) -> Preserved:
        return references.preserved(raw)

    def leans(self, parts: Iterable[object]) -> bool:
        return editing.leans(parts)

    def is_request_record(self, raw: bytes) -> bool:
        return leaving.is_request_record(raw)

    def is_local_record(self, raw: bytes) -> bool:
        return leaving.is_local_record(raw)

    def binds(self, model: str) -> bool:
        return placing.binds(model)

    def place(self, home: Path, cwd: str, session: str) -> Path:
        return placing.place(home, cwd, session)

    def agent_place(self, folder: Path, name: str) -> Path:
        return placing.agent_place(folder, name)

    def lint(self, lines: Iterable[bytes], *, strict: bool) -> list[Finding]:
        from unspool.formats.claude_code.lint import lint

        return lint(lines, strict=strict)

    def mended(self, lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> Mended:
        from unspool.formats.claude_code.mending import mended

        return mended(lines, elsewhere)
