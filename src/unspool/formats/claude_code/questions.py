"""Questions put to the user, and their answers in all the forms that versions wrote them."""

import re
from typing import Literal

from unspool.formats.claude_code.values import items, mapping, text
from unspool.model import Json, Option, Question, Questionnaire, ToolCall

_CLOSING = re.compile(r'(?<!\\)"(?=[,.;\s]|\Z)')
_AWAY = "No response after"


def questionnaire(call: ToolCall) -> Questionnaire | None:
    """The questions of a call with what was answered; None where it asks none."""
    asked = items(mapping(call.input).get("questions"))
    if not asked:
        return None
    answers, notes = _answers(call, asked)
    questions = tuple(_question(mapping(item), answers, notes) for item in asked)
    return Questionnaire(questions, _outcome(call, answers), call.result.feedback if call.result else "")


def _outcome(call: ToolCall, answers: dict[str, str]) -> Literal["answered", "rejected", "away", "pending"]:
    if call.result is None:
        return "pending"
    if call.result.denial:
        return "rejected"
    if call.result.text.startswith(_AWAY):
        return "away"
    return "answered" if answers or not call.result.error else "pending"


def _answers(call: ToolCall, asked: list[Json]) -> tuple[dict[str, str], dict[str, str]]:
    """(answers, notes) by question text: the structured record first, else what the text says."""
    if call.result is None:
        return {}, {}
    detail = mapping(call.result.detail)
    given = mapping(detail.get("answers"))
    marks = mapping(detail.get("annotations"))
    notes = {question: text(mapping(mark).get("notes")) for question, mark in marks.items()}
    if given:
        return {question: _joined(answer) for question, answer in given.items()}, notes
    return _from_text(call.result.text, asked)


def _joined(answer: Json) -> str:
    return ", ".join(text(part) for part in answer) if isinstance(answer, list) else text(answer)


def _from_text(words: str, asked: list[Json]) -> tuple[dict[str, str], dict[str, str]]:
    """What the text of a result says after each question."""
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    questions = filter(None, (text(mapping(item).get("question")) for item in asked))
    places = sorted((words.find(f'"{question}"='), question) for question in questions)
    for number, (at, question) in enumerate(places):
        if at < 0:
            continue
        end = places[number + 1][0] if number + 1 < len(places) else len(words)
        answer, rest = _quoted(words[at + len(question) + 3 : end])
        if answer:
            answers[question] = answer
        _, noted, note = rest.partition("notes: ")
        if noted:
            notes[question] = note.split("\n")[0].split(". You can")[0].rstrip(", ").strip()
    return answers, notes


def _quoted(said: str) -> tuple[str, str]:
    """A quoted answer and what stands behind it; quotes inside it are escaped or followed by more words."""
    if not said.startswith('"'):
        return "", said
    closing = _CLOSING.search(said, 1)
    end = closing.start() if closing else len(said)
    return said[1:end].replace('\\"', '"'), said[end + 1 :]


def _question(item: dict[str, Json], answers: dict[str, str], notes: dict[str, str]) -> Question:
    words = text(item.get("question"))
    answer = answers.get(words)
    several = item.get("multiSelect") is True
    chosen = _chosen(answer, several=several)
    options = tuple(
        Option(text(option.get("label")), text(option.get("description")), text(option.get("label")) in chosen)
        for option in map(mapping, items(item.get("options")))
    )
    return Question(words, text(item.get("header")), options, several, answer, notes.get(words, ""))


def _chosen(answer: str | None, *, several: bool) -> set[str]:
    if answer is None:
        return set()
    return {answer, *(part.strip() for part in answer.split(","))} if several else {answer}
