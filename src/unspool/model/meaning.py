"""What some calls mean beyond their text: plans, todo lists, questions."""

from typing import Literal

import msgspec

PlanStatus = Literal["approved", "rejected", "pending"]


class Plan(msgspec.Struct, frozen=True, tag="plan", omit_defaults=True):
    """A plan and what the user made of it."""

    title: str
    text: str
    status: PlanStatus
    feedback: str = ""
    edited: bool = False
    path: str = ""
    settled_by: str = ""
    """The session that implements it, where the answer is only known from there."""


class Todo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to do. Written lists have no ids; created tasks do."""

    text: str
    status: str
    id: str = ""
    active: str = ""
    owner: str = ""
    blocked_by: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    priority: str = ""
    task: bool = False


class Todos(msgspec.Struct, frozen=True, tag="todos"):
    """The whole todo list as it stood after a call."""

    items: tuple[Todo, ...]


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """A choice offered."""

    label: str
    description: str = ""
    chosen: bool = False


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question put to the user, and the answer: an option's label, several, or free text."""

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    answer: str | None = None
    notes: str = ""


class Questionnaire(msgspec.Struct, frozen=True, tag="questionnaire", omit_defaults=True):
    """Questions asked together; `outcome` says why there are no answers, where there are none."""

    questions: tuple[Question, ...]
    outcome: Literal["answered", "rejected", "away", "pending"] = "pending"
    feedback: str = ""
