"""Writes a planned copy with its companions, proven first."""

import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents.writing import Cuts, LineLink, ListedCopy, errors
from unspool.build_info import VERSION
from unspool.copies import records
from unspool.copies.conversation import has_block, split_turns
from unspool.copies.copy_plan import CopyPlan, CopyRequest, SessionCopy, new_line_ids, plan_copy
from unspool.copies.fork import repair_original
from unspool.copies.material import prompt_title
from unspool.copies.original import read_original
from unspool.copies.records import FileToWrite, WrittenFiles, rehearse_writing, write_all_or_none
from unspool.copies.treatment import PRESETS
from unspool.errors import Unreadable, Unsound
from unspool.files import plain_files
from unspool.model import Event, Result, Thinking, ToolCall


class LineChange(NamedTuple):
    """A line that is shorter in the copy, or not in it, or a whole turn that is not."""

    line: int
    turn: int
    what: str
    """What it is: call, result, thinking, picture, words, line, turn."""
    tool: str
    deed: str
    """removed, truncated, stubbed, left out or rewritten."""
    before: int
    """Tokens, estimated."""
    after: int
    lines: int = 1


_DEEDS = {"remove": "removed", "truncate": "truncated", "stub": "stubbed", "hide": "hidden"}


def line_changes(draught: CopyPlan) -> Iterator[LineChange]:
    """Every change of the conversation, in its order."""
    names = _names(draught.lines)
    for turn, lines in enumerate(split_turns(draught.lines)):
        if lines and all(event.id in draught.cuts.lines for event in lines):
            before = sum(map(draught.material.tokens, lines))
            yield LineChange(lines[0].place.line, turn, "turn", "", "left out", before, 0, len(lines))
        else:
            yield from (one for event in lines for one in _change(draught, event, turn, names))


def _change(draught: CopyPlan, event: Event, turn: int, names: dict[str, str]) -> Iterator[LineChange]:
    edited = draught.copy.edits.get(event.id)
    if edited is None:
        return
    what, tool, deed = _told(event, draught.cuts, names)
    deed = deed or ("left out" if edited.raw is None else "shortened")
    yield LineChange(event.place.line, turn, what, tool, deed, draught.material.tokens(event), edited.tokens)


def _names(lines: list[Event]) -> dict[str, str]:
    blocks = (block for event in lines for block in event.blocks)
    return {block.call_id: block.name for block in blocks if isinstance(block, ToolCall)}


def _told(event: Event, cuts: Cuts, names: dict[str, str]) -> tuple[str, str, str]:
    """(what it is, the tool, what is done); the last is empty where only the line itself tells."""
    for block in event.blocks:
        if not isinstance(block, ToolCall | Result):
            continue
        what, tool = "call" if isinstance(block, ToolCall) else "result", names.get(block.call_id, "")
        if event.id in cuts.lines:
            return what, tool, "left out"
        if (event.id, block.call_id) in cuts.gone:
            return what, tool, "left out: it has no other half, or stands elsewhere"
        if block.call_id in cuts.calls:
            return what, tool, _DEEDS[cuts.calls[block.call_id]]
    if event.id in cuts.texts:
        return "words", "", "rewritten"
    if event.id in cuts.images:
        return "picture", "", "left out"
    if event.id in cuts.thinking and has_block(event, Thinking):
        return "thinking", "", "removed"
    return "line", "", ""


_SHARED = frozenset({"plan", "history"})
"""Files that are no single session's."""


def carry_companions(copy: SessionCopy, log: Path, home: Path | None) -> Iterator[FileToWrite]:
    """The files that go along, under the id of the copy.

    Those in the session's own folder go beside `log`; those below the agent's folder go below `home`, and stay
    behind where there is none.
    """
    agents = {agent.path for agent in copy.original.found.agents}
    places = dict(_own(copy, log.parent / copy.making.session)) if copy.making.side else {}
    if home is not None:
        places.update(_elsewhere(copy, home))
    for path, target in places.items():
        yield FileToWrite(target, partial(_content, copy, path, is_log=str(path) in agents))


def _own(copy: SessionCopy, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Files below the session's own folder, and logs of subagents that older versions laid beside its log.

    What lies in that folder itself are the agent's notes on this one session: its title, where its log is up to.
    """
    found = copy.original.found
    for path in plain_files(found.home):
        if path.parent != found.home:
            yield path, folder / path.relative_to(found.home)
    for agent in found.agents:
        for path in (Path(name) for name in (agent.path, agent.sidecar) if name):
            if not path.is_relative_to(found.home) and not path.is_symlink():
                yield path, copy.writer.agent_place(folder, path.name)


def _elsewhere(copy: SessionCopy, home: Path) -> Iterator[tuple[Path, Path]]:
    """Files of the session elsewhere below the agent's folder, which bear its id."""
    found, session = copy.original.found, copy.making.session
    root, own = Path(found.root), re.compile(rf"(?<!\w){re.escape(found.session_id)}(?!\w)")
    for companion in copy.original.agent.files.companions(found, "") if found.root else ():
        path = Path(companion.path)
        wanted = copy.making.snapshots if companion.kind == "file-history" else copy.making.side
        if wanted and companion.kind not in _SHARED and not path.is_relative_to(found.home):
            kind, *names = path.relative_to(root).parts
            yield path, home.joinpath(kind, *(own.sub(session, name) for name in names))


def _content(copy: SessionCopy, path: Path, *, is_log: bool) -> Iterator[bytes]:
    try:
        yield from _agent(copy, path) if is_log else _bytes(copy, path)
    except OSError as error:
        if error.filename != str(path):
            raise
        told = f"{path}, which goes along with the session, cannot be read: {error.strerror}."
        raise Unreadable(f"{told} --drop-side leaves such files out. Nothing was written.") from None


def _bytes(copy: SessionCopy, path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        if copy.making.paths:
            yield copy.writer.relocated(file.read(), copy.making.paths)
            return
        while chunk := file.read(1 << 20):
            yield chunk


def _agent(copy: SessionCopy, path: Path) -> Iterator[bytes]:
    """A subagent's log under new ids: every line of it that could be read, once."""
    log = read_original(msgspec.structs.replace(copy.original.found, path=str(path)))
    own = new_line_ids([event.id for event in log.events if event.id])
    order = {line: place for place, line in enumerate(own.values())}
    ids = {**copy.identity.ids, **own}
    identity = msgspec.structs.replace(copy.identity, ids=ids, before={}, after={}, order=order)
    done: set[str] = set()
    gone: dict[str, str] = {}
    for event in log.events:
        if event.kind == "problem" or event.id in done:
            continue
        raw = log.raw(event)
        if not event.id:
            yield from filter(None, [copy.writer.beside(raw, identity)])
            continue
        done.add(event.id)
        parent = gone.get(event.parent or "", event.parent or "")
        if copy.making.goes_elsewhere and copy.writer.is_local_record(raw):
            gone[event.id] = parent
        else:
            yield copy.writer.renewed(raw, identity, LineLink(own[event.id], identity.ids.get(parent)))


_TOLD = 5
_PROMPT = 100


def write_copy(
    draught: CopyPlan, path: Path, home: Path | None, cwd: str, *, dry_run: bool = False
) -> records.CopyRecord:
    """Prove the copy, write and remember it; all of that, or nothing. A dry run does the same without the writing.

    What goes along goes beside a log that bears the copy's own id, and to `home`, the agent's folder, if there is one.
    """
    copy = draught.copy
    along = carry_companions(copy, path, home) if path.stem == copy.making.session else ()
    log, proof = FileToWrite(path, copy.chunks), partial(prove_lines, draught)
    with nullcontext(rehearse_writing(log, along, proof)) if dry_run else write_all_or_none(log, along, proof) as done:
        record = _record(draught, done, cwd)
        records.keep_record(record, dry_run=dry_run)
    if home is not None and not dry_run:
        copy.writer.register(path, _listed(copy, cwd))
    return record


def _listed(copy: SessionCopy, cwd: str) -> ListedCopy:
    """What a list of sessions says of the copy."""
    asked = next((event.prompt for event in copy.lines if event.prompt is not None), None)
    facts = copy.original.facts
    return ListedCopy(
        copy.making.title,
        " ".join(prompt_title(asked).split())[:_PROMPT] if asked is not None else "",
        sum(event.turn for event in copy.lines),
        facts.started.isoformat(timespec="milliseconds").replace("+00:00", "Z") if facts.started else "",
        copy.identity.now,
        facts.branch,
        cwd,
    )


def _record(draught: CopyPlan, done: WrittenFiles, cwd: str) -> records.CopyRecord:
    copy, wish = draught.copy, draught.wish
    ids = copy.identity.ids
    shortened = {*wish.texts, *records.compressed_lines(copy.identity.source)}
    return records.CopyRecord(
        session=copy.making.session,
        source=copy.identity.source,
        source_path=copy.original.path,
        command=wish.command,
        options=wish.options,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=VERSION,
        title=copy.making.title,
        cwd=cwd,
        files=done.files,
        before=draught.before,
        after=msgspec.structs.replace(draught.after, bytes=done.files[0].size),
        folders=done.folders,
        compressed=[ids[line] for line in ids if line in shortened],
    )


def prove_lines(draught: CopyPlan, lines: Iterable[bytes]) -> None:
    """Raises where the lines of a finished copy break a rule."""
    wrong = errors(draught.copy.writer.lint(lines, strict=not draught.wish.in_place))
    if wrong:
        told = [f"  line {one.line}: {one.message}" for one in wrong[:_TOLD]]
        more = [f"  and {len(wrong) - _TOLD:,} more"] if len(wrong) > _TOLD else []
        count = "1 fault" if len(wrong) == 1 else f"{len(wrong):,} faults"
        head = f"The copy would not be sound ({count}), so it is not written:"
        raise Unsound("\n".join([head, *told, *more, *_way_out(draught)]))


def _way_out(draught: CopyPlan) -> Iterator[str]:
    """What helps, where the session itself is damaged and can be mended."""
    log = draught.copy.original
    if draught.wish.command in ("repair", "import") or log.path == "-":
        return
    mended, done = repair_original(log)
    if not done.deeds:
        return
    with suppress(Unsound):
        copy = plan_copy(mended, PRESETS["none"], CopyRequest("repair")).copy
        if not errors(copy.writer.lint(copy.chunks(), strict=True)):
            yield f"The session itself is damaged: `unspool repair {log.path}` writes a mended copy."
