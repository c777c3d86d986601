"""A form of the review as a change of choices."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from unspool.errors import UsageProblem
from unspool.share.choices import Choices

KINDS = {"thinking": "Thinking", "tools": "Tool outputs", "images": "Images", "subagents": "Subagents"}
"""What can be left out whole, by the name of its choice."""
LONGEST = 200
"""Characters of a term."""
Known = Mapping[str, frozenset[str]]
"""The ids of all findings, by their rule."""


def decided(choices: Choices, sent: Mapping[str, str], known: Known) -> Choices:
    """The choices after a form; UsageProblem where it says nothing that can be done."""
    for name, value in sent.items():
        if name in _DEEDS:
            return _DEEDS[name](choices, value, known)
    raise UsageProblem("The form says nothing about what is shared.")


def stays(choices: Choices, rule: str, finding: str) -> bool:
    """Whether a finding is left as it is."""
    return rule in choices.keep or finding in choices.keep


def turns_out(choices: Choices) -> set[int]:
    """The numbers of the turns that are left out."""
    return {number for first, last in choices.without for number in range(first, last + 1)}


def _keep(choices: Choices, finding: str, known: Known) -> Choices:
    _rule_of(finding, known)
    return replace(choices, keep=choices.keep | {finding})


def _replace(choices: Choices, finding: str, known: Known) -> Choices:
    """Where all of its rule stayed, the others go on to."""
    rule = _rule_of(finding, known)
    others = known[rule] if rule in choices.keep else frozenset[str]()
    return replace(choices, keep=(choices.keep | others) - {rule, finding})


def _rule_of(finding: str, known: Known) -> str:
    for rule, findings in known.items():
        if finding in findings:
            return rule
    raise UsageProblem("There is no such finding any more; look at the page again.")


def _keep_rule(choices: Choices, rule: str, known: Known) -> Choices:
    """What was seen stays; what the rule finds in another session is looked at there."""
    return replace(choices, keep=choices.keep | known.get(rule, frozenset()))


def _replace_rule(choices: Choices, rule: str, known: Known) -> Choices:
    return replace(choices, keep=choices.keep - {rule} - known.get(rule, frozenset()))


def _add(choices: Choices, term: str, _: Known) -> Choices:
    term = " ".join(term.split())
    if not 2 <= len(term) <= LONGEST:
        raise UsageProblem(f"What must not leave has 2 to {LONGEST} characters.")
    return replace(choices, terms=tuple(dict.fromkeys((*choices.terms, term))))


def _drop(choices: Choices, term: str, _: Known) -> Choices:
    return replace(choices, terms=tuple(one for one in choices.terms if one != term))


def _leave(choices: Choices, kind: str, _: Known) -> Choices:
    return _with_kind(choices, kind, shared=False)


def _bring(choices: Choices, kind: str, _: Known) -> Choices:
    return _with_kind(choices, kind, shared=True)


def _with_kind(choices: Choices, kind: str, *, shared: bool) -> Choices:
    if kind not in KINDS:
        raise UsageProblem(f"There is nothing called “{kind[:40]}” to leave out.")
    return replace(choices, **{kind: shared})


def _leave_turn(choices: Choices, number: str, _: Known) -> Choices:
    return _with_turns(choices, turns_out(choices) | {_number(number)})


def _bring_turn(choices: Choices, number: str, _: Known) -> Choices:
    return _with_turns(choices, turns_out(choices) - {_number(number)})


def _with_turns(choices: Choices, numbers: set[int]) -> Choices:
    return replace(choices, without=tuple((number, number) for number in sorted(numbers)))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise UsageProblem("A turn is left out by its number.")
    return int(text)


_DEEDS: dict[str, Callable[[Choices, str, Known], Choices]] = {
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
