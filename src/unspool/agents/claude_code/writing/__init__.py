"""Lines of a log made from lines of another, as Claude Code itself would accept them. Imports its own agent's
modules and `agents.writing`, whose interface it fills."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from unspool.agents.claude_code.writing import editing, envelope, moving
from unspool.agents.writing import CopyIdentity, Cuts, LineLink, LintFinding, RepairedLog


class ClaudeWriter:
    def edited(self, raw: bytes, line: str, cuts: Cuts) -> bytes | None:
        return editing.edit_line(raw, line, cuts)

    def renewed(self, raw: bytes, identity: CopyIdentity, link: LineLink) -> bytes:
        return envelope.renew_line(raw, identity, link)

    def beside(self, raw: bytes, identity: CopyIdentity) -> bytes | None:
        return envelope.renew_side_line(raw, identity)

    def closing(self, identity: CopyIdentity, title: str) -> Iterator[bytes]:
        return envelope.closing_lines(identity, title)

    def relocated(self, data: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
        return moving.rename_in_file(data, paths)

    def moves(self, old: str, new: str, homes: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        return moving.path_renames(old, new, homes)

    def leans(self, parts: Iterable[object]) -> bool:
        return editing.leans(parts)

    def is_request_record(self, raw: bytes) -> bool:
        return envelope.is_request_record(raw)

    def is_local_record(self, raw: bytes) -> bool:
        return envelope.is_local_record(raw)

    def binds(self, model: str) -> bool:
        return moving.binds_thinking(model)

    def place(self, home: Path, cwd: str, session: str) -> Path:
        return moving.log_place(home, cwd, session)

    def agent_place(self, folder: Path, name: str) -> Path:
        return moving.agent_place(folder, name)

    def lint(self, lines: Iterable[bytes], *, strict: bool) -> list[LintFinding]:
        from unspool.agents.claude_code.lint import lint

        return lint(lines, strict=strict)

    def mended(self, lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> RepairedLog:
        from unspool.agents.claude_code.mending import repair_log

        return repair_log(lines, elsewhere)
