"""Questions made of the words of a source, drawn from a seed: the same logs and the same seed ask the same questions.

The words are taken from the logs themselves and not from anybody's index, so that no program is asked in its own terms.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_FILES, _LINES = 150, 40
"""How many logs are looked into, and how many lines of each."""
_WORD = re.compile(r"[^\W\d_]\w{2,23}")
_NAME = re.compile(r"^(?:[a-z]+[A-Z]\w*|\w+_\w+)$")
_PHRASE = re.compile(r"[A-Za-z]{2,15}(?: [A-Za-z]{2,15}){1,3}")
_COMMON = 60
_FILTERS = (
    "role:user", "role:assistant", "kind:answer", "kind:result", "tool:Bash", "tool:Read", "is:error", "model:opus",
    "model:sonnet", "since:2025-06-01", "until:2026-06-01", "cost:>1", "branch:main", "-role:tool",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """What is asked, and of which kind it is."""

    kind: str
    text: str
    plain: str = ""
    """The same for programs that look for a piece of text; empty where they cannot be asked."""


class Words:
    """What a source says, as far as a sample tells."""

    def __init__(self, source: Path, random: Random) -> None:
        self._random = random
        self._texts = [text for text in _texts(source, random) if len(_WORD.findall(text)) > 3]
        counted = Counter(word for text in self._texts for word in set(_WORD.findall(text)))
        ranked = [word for word, _ in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]
        self._common = ranked[:_COMMON]
        self._rare = _needles(source) or [word for word in ranked if counted[word] <= 2]
        self._names = [word for word in ranked if _NAME.match(word)] or self._rare

    def common(self) -> Question:
        word = self._random.choice(self._common)
        return Question("common word", word, word)

    def rare(self) -> Question:
        word = self._random.choice(self._rare)
        return Question("rare word", word, word)

    def two(self) -> Question:
        return Question("two words", " ".join(self._random.sample(self._together(), 2)))

    def phrase(self) -> Question:
        for _ in range(100):
            if found := _PHRASE.findall(self._random.choice(self._texts)):
                phrase = self._random.choice(found)
                return Question("phrase", f'"{phrase}"', phrase)
        return self.rare()

    def prefix(self) -> Question:
        word = self._random.choice(self._together())
        start = word[: self._random.randint(3, max(3, len(word) - 1))]
        return Question("prefix", f"{start}*", start)

    def name(self) -> Question:
        word = self._random.choice(self._names)
        return Question("identifier", word, word)

    def filtered(self) -> Question:
        word = self._random.choice(self._together())
        return Question("word and filter", f"{word} {self._random.choice(_FILTERS)}")

    def logic(self) -> Question:
        one, two = self._random.sample(self._together(), 2)
        return Question("OR, NOT", self._random.choice((f"{one} OR {two}", f"{one} -{two}", f"({one} OR {two}) the")))

    def _together(self) -> list[str]:
        """Words of one text, at least two."""
        while len(words := sorted(set(_WORD.findall(self._random.choice(self._texts))))) < 2:
            pass
        return words


def questions(source: Path, seed: int, many: int) -> list[Question]:
    """So many questions, of all kinds in turn."""
    words = Words(source, Random(seed))
    kinds: tuple[Callable[[], Question], ...] = (
        words.common, words.rare, words.two, words.phrase, words.prefix, words.name, words.filtered, words.logic,
    )  # fmt: skip
    return [kinds[number % len(kinds)]() for number in range(many)]


def _needles(source: Path) -> list[str]:
    """Words that occur once in a made corpus, as its maker says: in a sample of its few words none looks rare."""
    truth = source / "truth.json"
    if not truth.is_file():
        return []
    return [word for one in json.loads(truth.read_bytes())["sessions"] for word in one["needles"]]


def _texts(source: Path, random: Random) -> Iterator[str]:
    """What was said and done in some lines of some logs."""
    logs = sorted(source.rglob("*.jsonl"))
    for log in random.sample(logs, min(_FILES, len(logs))):
        lines = log.read_bytes().splitlines()
        for line in random.sample(lines, min(_LINES, len(lines))):
            try:
                data = json.loads(line)
            except ValueError:
                continue
            message = data.get("message") if isinstance(data, dict) else None
            yield from _said(message.get("content") if isinstance(message, dict) else None)


def _said(data: Any) -> Iterator[str]:
    """The strings in plain data that are text: neither pictures nor ids."""
    if isinstance(data, str):
        if " " in data[:200]:
            yield data[:4000]
    elif isinstance(data, dict):
        for value in data.values():
            yield from _said(value)
    elif isinstance(data, list):
        for value in data:
            yield from _said(value)
