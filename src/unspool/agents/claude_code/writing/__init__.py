"""Lines of a log made from lines of another, as Claude Code itself would accept them. Imports its own agent's
modules and `agents.writing`, whose interface it fills."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from uuid import uuid4

from unspool.agents.claude_code.writing import editing, envelope, listing, moving
from unspool.agents.renaming import rename_in_file
from unspool.agents.writing import CopiedLine, CopyIdentity, LintFinding, RepairedLog


class ClaudeWriter:
    edited = staticmethod(editing.edit_line)
    renewed = staticmethod(envelope.renew_line)
    beside = staticmethod(envelope.renew_side_line)
    closing = staticmethod(envelope.closing_lines)
    relocated = staticmethod(rename_in_file)
    moves = staticmethod(moving.path_renames)
    leans = staticmethod(editing.leans)
    is_request_record = staticmethod(envelope.is_request_record)
    is_local_record = staticmethod(envelope.is_local_record)
    binds = staticmethod(moving.binds_thinking)
    place = staticmethod(moving.log_place)
    agent_place = staticmethod(moving.agent_place)
    register = staticmethod(listing.register_copy)
    unregister = staticmethod(listing.unregister_copy)

    @staticmethod
    def is_header(raw: bytes) -> bool:
        return False

    @staticmethod
    def new_session() -> str:
        return str(uuid4())

    @staticmethod
    def sequenced(lines: Iterable[CopiedLine], identity: CopyIdentity) -> Iterator[bytes]:
        return (line.raw for line in lines)

    def lint(self, lines: Iterable[bytes], *, strict: bool) -> list[LintFinding]:
        from unspool.agents.claude_code.lint import lint

        return lint(lines, strict=strict)

    def mended(self, lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> RepairedLog:
        from unspool.agents.claude_code.mending import repair_log

        return repair_log(lines, elsewhere)
