"""Two conversations beside each other: where they part, what each did from there, and the files as each left them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from unspool.doc import Diff
from unspool.figures import family
from unspool.figures.changes import file_changes, find_commits
from unspool.figures.file_states import calls_touching, file_place, forward_slashes, replay_file
from unspool.figures.test_runs import find_test_runs
from unspool.model import Commit, FileChange, Prompt, Session, Text, ToolCall, Turn, Usage
from unspool.model.tool_input import paths_of
from unspool.prices import Cost, PriceTable
from unspool.reading.ledger import CallLedger
from unspool.tools.summary import shorten_path

_LARGEST = 400_000
"""Characters of a file whose states are compared line by line."""


class AskedPrompt(msgspec.Struct, frozen=True):
    number: int
    words: str


class ComparedSide(msgspec.Struct, frozen=True):
    """One of the two, from where they part."""

    session: str
    title: str
    agent: str
    branch: int
    """0: the live conversation."""
    started: datetime | None
    ended: datetime | None
    prompts: tuple[AskedPrompt, ...]
    tools: dict[str, int]
    """Calls by tool, subagents' included."""
    failed: int
    usage: Usage
    cost: Cost
    files: tuple[FileChange, ...]
    """Files that it changed."""
    commits: tuple[Commit, ...]
    tests: str
    """How the last run of tests ended; empty where there was none."""
    answer: str
    """The last words."""


class ComparedFile(msgspec.Struct, frozen=True):
    """A file that one of the two changed, or both."""

    path: str
    sides: tuple[FileChange | None, FileChange | None]
    same: bool | None
    """Whether both left it the same; None where the logs do not tell."""
    diff: Diff | None = None
    """From the first one's state to the other's, where both are known and differ."""


class Comparison(msgspec.Struct, frozen=True):
    shared: int
    """Prompts that both have, from the beginning."""
    parted: str
    """The last prompt that both have; empty where they share nothing."""
    sides: tuple[ComparedSide, ComparedSide]
    files: tuple[ComparedFile, ...]


class Conversation(msgspec.Struct, frozen=True):
    """A session along one of its branches."""

    session: Session
    turns: tuple[Turn, ...]
    branch: int = 0


def compare_conversations(one: Conversation, other: Conversation, prices: PriceTable) -> Comparison:
    """Both conversations, compared from where they part."""
    pairs = zip(one.turns, other.turns, strict=False)
    same = 0
    for mine, theirs in pairs:
        if _said(mine) != _said(theirs):
            break
        same += 1
    asked = [_words(turn.prompt) for turn in one.turns[:same] if turn.prompt is not None]
    left, right = _side(one, same, prices), _side(other, same, prices)
    return Comparison(len(asked), asked[-1] if asked else "", (left, right), tuple(_files(one, other, left, right)))


def _said(turn: Turn) -> tuple[str, ...]:
    """What a turn is known by, whichever session holds it."""
    asked = _words(turn.prompt) if turn.prompt is not None else ""
    return asked, *(block.text for block in turn.blocks if isinstance(block, Text))


def _words(prompt: Prompt) -> str:
    return prompt.words.strip() or f"{prompt.command} {prompt.arguments}".strip()


def _side(talk: Conversation, same: int, prices: PriceTable) -> ComparedSide:
    session, turns = talk.session, talk.turns[same:]
    calls = list(_calls(session, turns))
    messages = {getattr(block, "message", "") for turn in turns for block in turn.blocks}
    ledger = CallLedger()
    ledger.add(call for message in session.messages if message.id in messages for call in message.calls)
    for agent in _agents(session, calls):
        ledger.add(call for inner in family(agent) for message in inner.messages for call in message.calls)
    words = [block.text for turn in turns for block in turn.blocks if isinstance(block, Text) and block.text.strip()]
    runs = list(find_test_runs(calls))
    ended = {True: "passed", False: "failed", None: "not known"}
    return ComparedSide(
        session.id,
        session.title,
        session.agent,
        talk.branch,
        turns[0].started if turns else session.started,
        turns[-1].ended if turns else session.ended,
        tuple(AskedPrompt(turn.number, _words(turn.prompt)) for turn in turns if turn.prompt is not None),
        dict(Counter(call.name for call in calls if call.state != "orphan").most_common()),
        sum(call.end == "failed" for call in calls),
        ledger.usage,
        prices.total(ledger.rows()),
        tuple(sorted((file for file in file_changes(calls) if file.writes), key=lambda file: file.path)),
        tuple(find_commits(calls)),
        runs[-1].said or ended[runs[-1].passed] if runs else "",
        words[-1] if words else "",
    )


def _agents(session: Session, calls: Sequence[ToolCall]) -> Iterator[Session]:
    """The subagents that some calls of a session started."""
    started = {call.call_id for call in calls if call.call_id}
    yield from (agent.session for agent in session.agents if agent.call_id in started)


def _calls(session: Session, turns: Sequence[Turn]) -> Iterator[ToolCall]:
    own = [block for turn in turns for block in turn.blocks if isinstance(block, ToolCall)]
    yield from own
    for agent in _agents(session, own):
        for inner in family(agent):
            yield from (block for turn in inner.turns for block in turn.blocks if isinstance(block, ToolCall))


def _files(one: Conversation, other: Conversation, left: ComparedSide, right: ComparedSide) -> Iterator[ComparedFile]:
    """The files that either changed, by their paths as seen from its folder, as each left them."""
    mine = {_place(file.path, one): file for file in left.files}
    theirs = {_place(file.path, other): file for file in right.files}
    here, there = _calls_by_place(one), _calls_by_place(other)
    for path in sorted({*mine, *theirs}):
        sides = mine.get(path), theirs.get(path)
        if None in sides:
            yield ComparedFile(path, sides, None)
            continue
        before, after = _left(one, path, here[path]), _left(other, path, there[path])
        if before is None or after is None:
            yield ComparedFile(path, sides, None)
        elif before == after or max(len(before), len(after)) > _LARGEST:
            yield ComparedFile(path, sides, before == after)
        else:
            from unspool.tools.diff import diff_of_texts

            yield ComparedFile(path, sides, False, diff_of_texts(path, before, after))


def _place(path: str, talk: Conversation) -> str:
    cwd = talk.session.cwd
    return shorten_path(forward_slashes(file_place(path, cwd)), forward_slashes(cwd))


def _calls_by_place(talk: Conversation) -> defaultdict[str, list[ToolCall]]:
    """The calls of a whole conversation by the files that they name."""
    found: defaultdict[str, list[ToolCall]] = defaultdict(list)
    for call in _calls(talk.session, talk.turns):
        for place in dict.fromkeys(_place(path, talk) for path in paths_of(call)):
            found[place].append(call)
    return found


def _left(talk: Conversation, place: str, calls: list[ToolCall]) -> str | None:
    """The file at a place as a conversation left it, as far as its calls tell."""
    path = forward_slashes(file_place(place, talk.session.cwd))
    steps = list(replay_file(calls_touching(calls, path, talk.session.cwd), path=path))
    return steps[-1].after if steps else None
