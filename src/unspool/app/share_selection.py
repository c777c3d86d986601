"""ShareSelection: which kinds, turns and findings are shared, who can open it, and how forms change that."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.app.open_session import OpenSession
from unspool.errors import UsageProblem
from unspool.figures import family
from unspool.files import write_atomically
from unspool.model import Image, Notice, Session, Thinking, ToolCall, Turn
from unspool.share.choices import ShareChoices, choices_file
from unspool.share.encryption import ShareSecret, passphrase, random_key
from unspool.site.options import SiteOptions
from unspool.site.summaries import shorten_line

SHARE_KINDS = {"thinking": "Thinking", "tools": "Tool outputs", "images": "Images", "subagents": "Subagents"}
"""What can be left out whole, by the name of its choice."""
MAX_TERM = 200
"""Characters of a term."""
FindingIds = Mapping[str, frozenset[str]]
"""The ids of all findings, by their rule."""


def change_choices(choices: ShareChoices, sent: Mapping[str, str], known: FindingIds) -> ShareChoices:
    """The choices after a form; UsageProblem where it says nothing that can be done."""
    for name, value in sent.items():
        if name in _DEEDS:
            return _DEEDS[name](choices, value, known)
    raise UsageProblem("The form says nothing about what is shared.")


def is_kept(choices: ShareChoices, rule: str, finding: str) -> bool:
    """Whether a finding is left as it is."""
    return rule in choices.keep or finding in choices.keep


def left_out_turns(choices: ShareChoices) -> set[int]:
    """The numbers of the turns that are left out."""
    return {number for first, last in choices.without for number in range(first, last + 1)}


def _keep(choices: ShareChoices, finding: str, known: FindingIds) -> ShareChoices:
    _rule_of(finding, known)
    return replace(choices, keep=choices.keep | {finding})


def _replace(choices: ShareChoices, finding: str, known: FindingIds) -> ShareChoices:
    """Where all of its rule stayed, the others go on to."""
    rule = _rule_of(finding, known)
    others = known[rule] if rule in choices.keep else frozenset[str]()
    return replace(choices, keep=(choices.keep | others) - {rule, finding})


def _rule_of(finding: str, known: FindingIds) -> str:
    for rule, findings in known.items():
        if finding in findings:
            return rule
    raise UsageProblem("There is no such finding any more; look at the page again.")


def _keep_rule(choices: ShareChoices, rule: str, known: FindingIds) -> ShareChoices:
    """What was seen stays; what the rule finds in another session is looked at there."""
    return replace(choices, keep=choices.keep | known.get(rule, frozenset()))


def _replace_rule(choices: ShareChoices, rule: str, known: FindingIds) -> ShareChoices:
    return replace(choices, keep=choices.keep - {rule} - known.get(rule, frozenset()))


def _add(choices: ShareChoices, term: str, _: FindingIds) -> ShareChoices:
    term = " ".join(term.split())
    if not 2 <= len(term) <= MAX_TERM:
        raise UsageProblem(f"What must not leave has 2 to {MAX_TERM} characters.")
    return replace(choices, terms=tuple(dict.fromkeys((*choices.terms, term))))


def _drop(choices: ShareChoices, term: str, _: FindingIds) -> ShareChoices:
    return replace(choices, terms=tuple(one for one in choices.terms if one != term))


def _leave(choices: ShareChoices, kind: str, _: FindingIds) -> ShareChoices:
    return _with_kind(choices, kind, shared=False)


def _bring(choices: ShareChoices, kind: str, _: FindingIds) -> ShareChoices:
    return _with_kind(choices, kind, shared=True)


def _with_kind(choices: ShareChoices, kind: str, *, shared: bool) -> ShareChoices:
    if kind not in SHARE_KINDS:
        raise UsageProblem(f"There is nothing called “{kind[:40]}” to leave out.")
    return replace(choices, **{kind: shared})


def _leave_turn(choices: ShareChoices, number: str, _: FindingIds) -> ShareChoices:
    return _with_turns(choices, left_out_turns(choices) | {_number(number)})


def _bring_turn(choices: ShareChoices, number: str, _: FindingIds) -> ShareChoices:
    return _with_turns(choices, left_out_turns(choices) - {_number(number)})


def _with_turns(choices: ShareChoices, numbers: set[int]) -> ShareChoices:
    return replace(choices, without=tuple((number, number) for number in sorted(numbers)))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise UsageProblem("A turn is left out by its number.")
    return int(text)


_DEEDS: dict[str, Callable[[ShareChoices, str, FindingIds], ShareChoices]] = {
    "keep": _keep,
    "replace": _replace,
    "keep-rule": _keep_rule,
    "replace-rule": _replace_rule,
    "term": _add,
    "drop": _drop,
    "leave": _leave,
    "bring": _bring,
    "leave-turn": _leave_turn,
    "bring-turn": _bring_turn,
}


MAX_TITLE = 200
"""Characters of a title."""


class ShareSelection(msgspec.Struct, frozen=True):
    """All that decides what is shared; how it is packed is none of it."""

    choices: ShareChoices = ShareChoices()
    title: str = ""
    """Empty: the session's own."""
    chain: bool = False
    """Whether the sessions that it is chained to are shared too."""


def change_selection(wish: ShareSelection, sent: Mapping[str, str], known: FindingIds) -> ShareSelection:
    """The wish after a form; UsageProblem where it says nothing that can be done."""
    if "title" in sent:
        return replace(wish, title=_title(sent["title"]))
    if "chain" in sent:
        return replace(wish, chain=_chain(sent["chain"]))
    return replace(wish, choices=change_choices(wish.choices, sent, known))


def _title(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > MAX_TITLE:
        raise UsageProblem(f"A title has at most {MAX_TITLE} characters.")
    return text


def _chain(text: str) -> bool:
    if text not in ("whole", "one"):
        raise UsageProblem("The chain is shared “whole”, or “one” session of it.")
    return text == "whole"


Seal = Literal["open", "key", "passphrase"]
SEAL_LABELS: dict[Seal, str] = {
    "open": "Whoever has it",
    "key": "Only with a key, which you pass on with the link",
    "passphrase": "Only with a passphrase",
}
"""Each of them, as a person chooses it."""


def parse_seal(text: str) -> Seal:
    """The seal of that name; UsageProblem where there is none."""
    for one in SEAL_LABELS:
        if one == text:
            return one
    raise UsageProblem("What is shared opens for all (open), by a key, or by a passphrase.")


def make_secret(seal: Seal, sent: Mapping[str, str]) -> ShareSecret | None:
    """What will open it; None where nothing is needed."""
    if seal == "open":
        return None
    if seal == "key":
        return random_key()
    words = sent.get("passphrase", "")
    if words != sent.get("again", ""):
        raise UsageProblem("The two passphrases differ, so nothing was made; type them again.")
    return passphrase(words)


class ShareHabit(msgspec.Struct, frozen=True):
    """Neither key nor passphrase is among it."""

    chain: bool = False
    seal: Seal = "open"


def load_habit(project: str) -> ShareHabit:
    """How it was done last; the default where it never was, or where that cannot be read."""
    try:
        return msgspec.json.decode(_place(project).read_bytes(), type=ShareHabit)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return ShareHabit()


def save_habit(project: str, now: ShareHabit) -> None:
    """Keep it for the project's next share, for this user's eyes alone."""
    if now != load_habit(project):
        write_atomically(_place(project), [msgspec.json.encode(now)])


def _place(project: str) -> Path:
    return choices_file(project).with_suffix(".habit.json")


class KindChoice(NamedTuple):
    """A kind of block that can be left out whole."""

    name: str
    label: str
    there: int
    out: bool


def kind_choices(session: Session, choices: ShareChoices) -> list[KindChoice]:
    """Each of them that the session has, and whether it is left out."""
    found = [
        KindChoice(name, SHARE_KINDS[name], there, not getattr(choices, name))
        for name, there in count_kinds(session).items()
    ]
    return [part for part in found if part.there or part.out]


def count_kinds(session: Session) -> dict[str, int]:
    """By the name of the choice; of the live conversation and of subagents."""
    found: Counter[str] = Counter()
    for member in family(session):
        for turn in member.turns:
            found.update(_turn(turn))
    return {
        "thinking": found["thinking"],
        "tools": found["tools"],
        "images": found["images"],
        "subagents": sum(1 for _ in family(session)) - 1,
    }


def _turn(turn: Turn) -> Counter[str]:
    found: Counter[str] = Counter(images=len(turn.prompt.images) if turn.prompt is not None else 0)
    for block in turn.blocks:
        if isinstance(block, Thinking):
            found["thinking"] += 1
        elif isinstance(block, Image):
            found["images"] += 1
        elif isinstance(block, Notice):
            found["images"] += len(block.images)
        elif isinstance(block, ToolCall) and block.result is not None:
            found["tools"] += 1
            found["images"] += len(block.result.images)
    return found


class TurnChoice(NamedTuple):
    """A turn that can be left out."""

    number: int
    words: str
    href: str
    out: bool


def turn_choices(told: OpenSession, choices: ShareChoices, options: SiteOptions) -> list[TurnChoice]:
    """Every turn that was asked for, on the branch that is shared."""
    out, addresses = left_out_turns(choices), told.addresses(options)
    return [
        TurnChoice(
            turn.number,
            shorten_line(turn.prompt.text or turn.prompt.command, 200),
            addresses.turn(turn.number),
            turn.number in out,
        )
        for turn in told.session.turns
        if turn.prompt is not None
    ]


def turns_summary(turns: list[TurnChoice]) -> str:
    """How many are left out, in a sentence."""
    out = sum(row.out for row in turns)
    return f"{out} of {len(turns)} left out." if out else "All of them are shared."
