"""ShareSelection: which kinds, turns and findings are shared, who can open it, and how forms change that."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from unspool.app.api_endpoint import parse_number
from unspool.app.open_session import OpenSession
from unspool.errors import UsageProblem
from unspool.figures import family
from unspool.model import Image, Notice, Session, Thinking, ToolCall, Turn
from unspool.redact.spread import ASKED
from unspool.share.choices import ShareChoices, project_name, recall, remember
from unspool.share.encryption import ShareSecret, passphrase, random_key
from unspool.site.options import SiteOptions
from unspool.site.summaries import shorten_line

SHARE_KINDS = {"thinking": "Thinking", "tools": "Tool outputs", "images": "Images", "subagents": "Subagents"}
"""What can be left out whole, by the name of its choice."""
MAX_TERM = 200
"""Characters of a term."""
FINDING_FIELDS = frozenset({"keep", "replace", "keep-rule", "replace-rule"})
"""Fields of a form that are about what was found."""
FindingIds = Mapping[str, frozenset[str]]
"""The ids of all findings, by their rule."""


def change_choices(choices: ShareChoices, form: Mapping[str, str], known: FindingIds) -> ShareChoices:
    """The choices after a form; UsageProblem where it says nothing that can be done."""
    for name, value in form.items():
        if name in FINDING_FIELDS:
            asked = next((rule for rule in ASKED if value == rule or value in known.get(rule, ())), "")
            if asked:
                words = known.get(asked, frozenset()) if value == asked else frozenset({value})
                gone = name.startswith("replace")
                return replace(choices, spread=choices.spread | words if gone else choices.spread - words)
            return replace(choices, keep=_change_kept(choices.keep, name, value, known))
        if name in ("term", "drop", "leave", "bring", "leave-turn", "bring-turn"):
            return _change_choice(choices, name, value)
    raise UsageProblem("The form says nothing about what is shared.")


def is_kept(choices: ShareChoices, rule: str, finding: str) -> bool:
    """Whether a finding is left as it is."""
    return finding not in choices.spread if rule in ASKED else rule in choices.keep or finding in choices.keep


def left_out_turns(choices: ShareChoices) -> set[int]:
    return {number for first, last in choices.without for number in range(first, last + 1)}


def _change_kept(kept: frozenset[str], name: str, value: str, known: FindingIds) -> frozenset[str]:
    """What is left as it is, after a finding, or all findings of a rule, are to be kept or replaced."""
    if name == "keep-rule":  # what was seen stays; what the rule finds in another session is looked at there
        return kept | known.get(value, frozenset())
    if name == "replace-rule":
        return kept - {value} - known.get(value, frozenset())
    rule = next((rule for rule, findings in known.items() if value in findings), None)
    if rule is None:
        raise UsageProblem("There is no such finding any more; look at the page again.")
    if name == "keep":
        return kept | {value}
    others = known[rule] if rule in kept else frozenset[str]()  # where all of its rule stayed, the others go on to
    return (kept | others) - {rule, value}


def _change_choice(choices: ShareChoices, name: str, value: str) -> ShareChoices:
    match name:
        case "term":
            term = " ".join(value.split())
            if not 2 <= len(term) <= MAX_TERM:
                raise UsageProblem(f"What must not leave has 2 to {MAX_TERM} characters.")
            return replace(choices, terms=tuple(dict.fromkeys((*choices.terms, term))))
        case "drop":
            return replace(choices, terms=tuple(one for one in choices.terms if one != value))
        case "leave" | "bring":
            if value not in SHARE_KINDS:
                raise UsageProblem(f"There is nothing called “{value[:40]}” to leave out.")
            return replace(choices, **{value: name == "bring"})
    number, out = parse_number(value), left_out_turns(choices)
    if number is None:
        raise UsageProblem("A turn is left out by its number.")
    out = out | {number} if name == "leave-turn" else out - {number}
    return replace(choices, without=tuple((one, one) for one in sorted(out)))


MAX_TITLE = 200
"""Characters of a title."""


class ShareSelection(msgspec.Struct, frozen=True):
    """All that decides what is shared; how it is packed is none of it."""

    choices: ShareChoices = ShareChoices()
    title: str = ""
    """Empty: the session's own."""
    chain: bool = False
    """Whether the sessions that it is chained to are shared too."""


def change_selection(selection: ShareSelection, form: Mapping[str, str], known: FindingIds) -> ShareSelection:
    """The selection after a form; UsageProblem where it says nothing that can be done."""
    if "title" in form:
        title = " ".join(form["title"].split())
        if len(title) > MAX_TITLE:
            raise UsageProblem(f"A title has at most {MAX_TITLE} characters.")
        return replace(selection, title=title)
    if "chain" in form:
        if form["chain"] not in ("whole", "one"):
            raise UsageProblem("The chain is shared “whole”, or “one” session of it.")
        return replace(selection, chain=form["chain"] == "whole")
    return replace(selection, choices=change_choices(selection.choices, form, known))


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


def make_secret(seal: Seal, form: Mapping[str, str]) -> ShareSecret | None:
    """What will open it; None where nothing is needed."""
    if seal == "open":
        return None
    if seal == "key":
        return random_key()
    words = form.get("passphrase", "")
    if words != form.get("again", ""):
        raise UsageProblem("The two passphrases differ, so nothing was made; type them again.")
    return passphrase(words)


class ShareHabit(msgspec.Struct, frozen=True):
    """Neither key nor passphrase is among it."""

    chain: bool = False
    seal: Seal = "open"


def load_habit(project: str) -> ShareHabit:
    """How it was done last; the default where it never was, or where that cannot be read."""
    return recall(project_name(project, _HABIT), ShareHabit)


def save_habit(project: str, **changes: bool | Seal) -> None:
    """Keep it for the project's next share, for this user's eyes alone."""
    before = load_habit(project)
    if (now := replace(before, **changes)) != before:
        remember(project_name(project, _HABIT), now)


_HABIT = ".habit"


class KindChoice(NamedTuple):
    name: str
    label: str
    there: int
    out: bool


def kind_choices(session: Session, choices: ShareChoices) -> list[KindChoice]:
    """Each kind that the live conversation or a subagent has, and whether it is left out."""
    members = list(family(session))
    there = Counter(subagents=len(members) - 1)
    for member in members:
        for turn in member.turns:
            there.update(_count_kinds(turn))
    found = [KindChoice(name, label, there[name], not getattr(choices, name)) for name, label in SHARE_KINDS.items()]
    return [kind for kind in found if kind.there or kind.out]


def _count_kinds(turn: Turn) -> Counter[str]:
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
    number: int
    words: str
    href: str
    out: bool


def turn_choices(opened: OpenSession, choices: ShareChoices, options: SiteOptions) -> list[TurnChoice]:
    """Every turn that was asked for, on the branch that is shared."""
    out, addresses, found = left_out_turns(choices), opened.addresses(options), []
    for number, prompt in ((turn.number, turn.prompt) for turn in opened.session.turns):
        if prompt is not None:
            words = shorten_line(prompt.words or prompt.command, 200)
            found.append(TurnChoice(number, words, addresses.turn(number), number in out))
    return found


def turns_summary(turns: list[TurnChoice]) -> str:
    out = sum(row.out for row in turns)
    return f"{out} of {len(turns)} left out." if out else "All of them are shared."
