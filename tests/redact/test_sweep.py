"""Many texts looked through at once: the same is found as in each by itself."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from bench.labelled import labelled, lookalikes
from bench.third_set import generate
from bench.unseen import every
from tests.thorough import tries
from unspool.redact.finder import Finder
from unspool.redact.log import decode_line
from unspool.redact.replacements import MatchMemory
from unspool.redact.values import ValuePath as Place
from unspool.redact.values import ValueText, gather_texts, match_texts


@cache
def made() -> list[str]:
    """Disguised secrets and what looks like one."""
    return [
        *[seen.text for seen in every(8)][:: tries(20, 5)],
        *[label.text for label in labelled(8)][:: tries(20, 5)],
        *[label.text for label in generate(71) if "\0" not in label.text][:: tries(3, 1)],
        *lookalikes(8, 300),
    ]


pieces = st.deferred(lambda: st.one_of(st.sampled_from(made()), st.text(max_size=60)))


def together(texts: list[str]) -> list[Any]:
    return match_texts(Finder(), [ValueText(Place(), "", text) for text in texts])


@given(st.lists(pieces, max_size=8))
def test_together_is_as_apart(texts: list[str]) -> None:
    """Whatever stands before and after a text, the same is found in it."""
    finder = Finder()
    assert together(texts) == [finder.find(text) for text in texts]


def test_a_large_batch_is_as_apart() -> None:
    """The same for hundreds of disguised secrets and look-alikes at once."""
    finder = Finder()
    texts = Random(4).sample(made(), len(made()))
    found = [one for at in range(0, len(texts), 200) for one in together(texts[at : at + 200])]
    assert [text for text, one in zip(texts, found, strict=True) if one != finder.find(text)] == []


def test_texts_of_real_logs_are_as_apart(shared: Path) -> None:
    """The same for what people's logs hold."""
    finder = Finder()
    for path in sorted((shared / "corpora").rglob("*.jsonl"))[:: tries(24, 6)]:
        texts = list(strings(path.read_bytes().splitlines()[:: tries(20, 5)]))
        alone = [finder.find(text) for text in texts]
        assert [text for text, one, two in zip(texts, together(texts), alone, strict=True) if one != two] == []


def strings(lines: list[bytes]) -> Iterator[str]:
    texts: list[ValueText] = []
    for line in lines:
        gather_texts(decode_line(line), Place(), "", MatchMemory(), texts)
    yield from dict.fromkeys(text.text for text in texts)


@given(st.uuids(), st.datetimes())
def test_ids_and_times_hold_nothing(one: UUID, time: Any) -> None:
    """What is passed over as an id has nothing that our rules would find."""
    told = f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z".rjust(24, "0")
    for text in (str(one), told):
        assert MatchMemory(ids=True).is_id(text)
        assert Finder().find(text) == []


def test_ids_are_looked_at_where_a_term_may_be_one() -> None:
    """A person who names an id wants it gone."""
    name = "3f2a77aa-1077-4d0c-8e77-00000000000a"
    finder = Finder(terms=[name])
    texts: list[ValueText] = []
    gather_texts({"id": name}, Place(), "", finder.known, texts)
    assert name in [text.text for text in texts]


def test_memory_has_bounds(monkeypatch: Any) -> None:
    """It begins anew when it is full, and never keeps what is long."""
    monkeypatch.setattr("unspool.redact.replacements._MOST", 1000)
    memory = MatchMemory()
    for number in range(300):
        memory.remember({f"text {number:04}": [], "x" * 300_000: []})
        assert len(memory) <= 120
    assert memory
