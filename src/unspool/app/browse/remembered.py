"""Answers of an index that hold until it changes. Each connection has its own, and each thread a connection."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import apsw

T = TypeVar("T")
_MOST = 16
"""Answers of one index."""
_HELD: WeakKeyDictionary[apsw.Connection, tuple[int, dict[Hashable, Any]]] = WeakKeyDictionary()


def remembered(db: apsw.Connection, question: Hashable, ask: Callable[[], T]) -> T:
    """The answer to a question, asked again only when the index has changed."""
    version: int = db.pragma("data_version")
    held = _HELD.get(db)
    if held is None or held[0] != version:
        held = _HELD[db] = version, {}
    answers = held[1]
    if question not in answers:
        answer = ask()
        while len(answers) >= _MOST:
            answers.pop(next(iter(answers)))
        answers[question] = answer
    found: T = answers[question]
    return found
