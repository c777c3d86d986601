"""A session as it may leave for other programs: every file of it without what must not leave, read again by its agent.

A share for people is a selected copy; here all stays as the agent wrote it, ways that were left and subagents included,
so that figures stay the session's own.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from unspool.agents import FoundAgent, FoundLog, by_id
from unspool.agents.log_files import LogFileAgent
from unspool.agents.writing import LogWriter
from unspool.copies.original import fetched_log
from unspool.figures import calls_of
from unspool.files import scratch_folder
from unspool.model import Block, Image, Notice, Plan, Result, Session, Thinking, ToolCall, Turn
from unspool.redact.finder import Finder
from unspool.redact.log import decode_line
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.prepare import without_paths
from unspool.share.redact_files import RedactionReport, people_in_lines, redact_files
from unspool.share.select_files import LeftOutCounts, SelectedFiles, file_stem
from unspool.share.side_files import FileToShare, agent_file_place
from unspool.store.library import Library, read_session
from unspool.store.library.chains import settle_plans
from unspool.store.library.inputs import open_log
from unspool.store.library.read import read_stream

_SAFE_ID = re.compile(r"(?!\.)[A-Za-z0-9._@+=-]{1,120}")


class ReadySession(NamedTuple):
    """A session that may leave."""

    session: Session
    log: FoundLog
    """Its log with those of its subagents, as they may leave, while the `with` lasts."""
    report: RedactionReport | None
    """What was replaced; None where nothing was looked for."""
    shortened: bool = False
    """Whether the choices for its project leave something out, which its log still holds."""


@contextmanager
def open_ready(library: Library, name: str | FoundLog, ask: ShareSettings | None) -> Iterator[ReadySession]:
    """A session ready to leave, redacted as it was chosen for its project; without settings as it is."""
    found = library.resolve(name) if isinstance(name, str) else name
    with ExitStack() as held:
        if isinstance(found, str) and ask is None:
            session = library.open(found)
            yield ReadySession(session, FoundLog(found, session.id, session.agent, 0, 0.0), None)
            return
        here = held.enter_context(fetched_log(found) if isinstance(found, str) else library.located(found))
        original = library.open(found) if isinstance(found, FoundLog) else read_stream(here.path)
        if ask is None:
            yield ReadySession(original, here, None)
            return
        yield _redacted(here, original, ask, held.enter_context(scratch_folder()))


def _redacted(here: FoundLog, original: Session, ask: ShareSettings, folder: Path) -> ReadySession:
    choices = ask.choices(original.cwd)
    plain, made = folder / "plain", folder / "made"
    with open_log(here.path) as lines:
        people = people_in_lines(lines, ask.environment, (original.cwd,))
    finder = Finder(ask.rules, people, choices.terms)
    safe = _SAFE_ID.fullmatch(original.id) and not finder.find(original.id)
    name = original.id if safe else file_stem(original.id)
    log = Path(here.path.removesuffix(".gz").removesuffix(".zst"))
    tells = not _SAFE_ID.fullmatch(log.name) or finder.find(log.name)
    files = list(_plain_files(name, f"{name}{log.suffix or '.jsonl'}" if tells else log.name, here, plain))
    cleaned = redact_files([SelectedFiles(file_stem(original.id), files, LeftOutCounts())], ask, choices, finder, made)
    agents = tuple(
        FoundAgent(str(path), one.id, str(beside) if one.sidecar and beside.exists() else "")
        for one in here.agents
        if (path := made / _agent_name(name, here, one.path)).exists()
        for beside in [made / _agent_name(name, here, one.sidecar)]
    )
    found = FoundLog(str(made / files[0].name), name, here.agent_id, 0, 0.0, agents=agents, owner=here.owner)
    read = _with_settled_plans(_as_original(read_session(found), original), original)
    session = replace(without_paths(read), id=name)
    return ReadySession(_leave_out(session, choices), found, cleaned.report, bool(choices.left_out()))


def _agent_name(session: str, found: FoundLog, path: str) -> str:
    return f"{session}/{agent_file_place(found, Path(path)).as_posix()}" if path else f"{session}/none"


def _plain_files(name: str, own: str, here: FoundLog, folder: Path) -> Iterator[FileToShare]:
    """Every file that the session is read from, unpacked: its log and what its agent keeps beside that, the logs of its
    subagents, and answers that were too long for it."""
    agent = by_id(here.agent_id)
    writer, parent = agent.writer, Path(here.path).parent
    yield _copied(own, here.path, writer, folder)
    for path in agent.companions_beside(here) if isinstance(agent, LogFileAgent) else ():
        if path.parent == parent and path.is_file() and not path.is_symlink() and _SAFE_ID.fullmatch(path.name):
            yield _copied(path.name, str(path), writer, folder)
    for inner in here.agents:
        for beside in filter(None, (inner.path, inner.sidecar)):
            with suppress(OSError):
                yield _copied(_agent_name(name, here, beside), beside, writer, folder)
    for path in () if here.home.is_symlink() else agent.files.spilled(here):
        data = path.read_bytes()
        if b"\0" not in data:
            place = f"{name}/{path.relative_to(here.home).as_posix()}"
            yield FileToShare(place, "text", _put(folder / place, [data]))


def _copied(name: str, path: str, writer: LogWriter | None, folder: Path) -> FileToShare:
    """A log as lines, or as the one document that it is. Lines that tell by digests what others say stay behind, and so
    does a last line that is torn: half a secret is not known for one."""
    with open_log(path) as stream:
        if Path(name).suffix == ".json" and isinstance(decode_line(data := stream.read()), dict | list):
            return FileToShare(name, "json", _put(folder / name, [data]))
    with open_log(path) as stream:
        kept = (line for line in stream if line.endswith(b"\n") or decode_line(line) is not None)
        lines = kept if writer is None else (line for line in kept if not writer.is_request_record(line))
        return FileToShare(name, "log", _put(folder / name, lines))


def _put(path: Path, chunks: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(chunks)
    return path


def _as_original(session: Session, original: Session) -> Session:
    """The session with what is known of it only among others: what it copied and from whom, what was paid elsewhere.
    Titles and prompts of other sessions stay behind."""
    copied = {message.id for message in original.messages if message.copied}
    turns = {(0, turn.number) for turn in original.turns if turn.copied}
    turns |= {(branch.number, turn.number) for branch in original.branches for turn in branch.turns if turn.copied}

    def marked(one: Turn, branch: int = 0) -> Turn:
        return replace(one, copied=(branch, one.number) in turns)

    history = original.history
    branches = tuple(
        replace(one, turns=tuple(marked(turn, one.number) for turn in one.turns)) for one in session.branches
    )
    known = {agent.id: agent.session for agent in original.agents}
    agents = tuple(
        replace(one, session=_as_original(one.session, known[one.id])) if one.id in known else one
        for one in session.agents
    )
    return replace(
        session,
        messages=tuple(replace(one, copied=one.id in copied) for one in session.messages),
        turns=tuple(map(marked, session.turns)),
        branches=branches,
        agents=agents,
        history=replace(history, title="") if history is not None else None,
        elsewhere=original.elsewhere,
        links=tuple(replace(link, title="", prompt="") for link in original.links),
    )


def _with_settled_plans(session: Session, original: Session) -> Session:
    """The session with the plans approved that others carried out."""
    by = {call.call_id: call.meaning.settled_by for call in calls_of(original) if isinstance(call.meaning, Plan)}
    plans = ((call.meaning.text, by.get(call.call_id)) for call in calls_of(session) if isinstance(call.meaning, Plan))
    return settle_plans(session, [(text, other) for text, other in plans if other])


def _leave_out(session: Session, choices: ShareChoices) -> Session:
    """The session without the kinds that the choices for its project leave out."""
    if not choices.left_out():
        return session

    def turn(one: Turn) -> Turn:
        blocks = tuple(_block(block, choices) for block in one.blocks if _stays(block, choices))
        prompt = one.prompt
        if prompt is not None and not choices.images:
            prompt = replace(prompt, images=())
        return replace(one, prompt=prompt, blocks=blocks)

    kept = session.agents if choices.subagents else ()
    return replace(
        session,
        turns=tuple(map(turn, session.turns)),
        branches=tuple(replace(one, turns=tuple(map(turn, one.turns))) for one in session.branches),
        agents=tuple(replace(one, session=_leave_out(one.session, choices)) for one in kept),
    )


def _stays(block: Block, choices: ShareChoices) -> bool:
    hidden = isinstance(block, Thinking) and not choices.thinking
    return not hidden and not (isinstance(block, Image) and not choices.images)


def _block(block: Block, choices: ShareChoices) -> Block:
    if isinstance(block, Notice) and not choices.images:
        return replace(block, images=())
    if not isinstance(block, ToolCall) or block.result is None:
        return block
    hidden = not choices.tools or (block.role == "agent" and not choices.subagents)
    change: Callable[[Result], Result] = _emptied if hidden else (lambda one: one)
    result = change(block.result)
    result = result if choices.images else replace(result, images=())
    return replace(block, result=result, earlier=tuple(map(change, block.earlier)))


def _emptied(result: Result) -> Result:
    return replace(result, text="", images=(), detail=None, parts=(), feedback="")
