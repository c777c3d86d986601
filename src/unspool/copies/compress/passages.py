"""Passages of a session, which of them are shortened, and what became of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, Self

import msgspec

from unspool import human
from unspool.errors import UsageProblem
from unspool.figures.tokens import estimate_tokens
from unspool.files import write_atomically
from unspool.redact.finder import Finder
from unspool.redact.rebuild import redact_text
from unspool.redact.replacements import ReplacementNames, SecretMatch
from unspool.render.gfm import code_block
from unspool.render.sanitize import one_line

Level = Literal["light", "heavy"]
SHARES: dict[Level, int] = {"light": 35, "heavy": 10}
"""Percent of a passage's tokens that each level aims at."""
DEFAULT = "0-40:heavy,40-80:light"
"""The last fifth of a session stays word for word."""

_NESTED = 2
"""How often names are put back: what stood for a name may have held another."""
_BAND = re.compile(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*%?\s*:\s*(light|heavy)\s*", re.ASCII)


class TurnBand(NamedTuple):
    """A span, from its start up to but without its end."""

    start: int
    end: int
    level: Level


class TurnBands(NamedTuple):
    """Spans that do not overlap, in order."""

    spans: tuple[TurnBand, ...]

    @classmethod
    def parse(cls, text: str = DEFAULT) -> Self:
        """Bands such as `0-50:heavy,50-80:light`; UsageProblem where they are none."""
        spans = tuple(sorted(map(_band, text.split(","))))
        for before, after in pairwise(spans):
            if after.start < before.end:
                raise UsageProblem(f"The bands {band_text(before)} and {band_text(after)} overlap.")
        return cls(spans)

    def level(self, turn: int, turns: int) -> Level | None:
        """How strongly a turn, counted from 0, is shortened; None where it is in no band."""
        fits = (band.level for band in self.spans if band.start * turns <= turn * 100 < band.end * turns)
        return next(fits, None)

    def __str__(self) -> str:
        return ",".join(map(band_text, self.spans))


def band_text(band: TurnBand) -> str:
    """A band as it is typed."""
    return f"{band.start}-{band.end}:{band.level}"


def _band(text: str) -> TurnBand:
    found = _BAND.fullmatch(text)
    if found is None:
        raise UsageProblem(f"{text.strip()!r} is no band: write it as 0-50:heavy or 50-80:light, in percent of turns.")
    start, end = int(found[1]), int(found[2])
    if not start < end <= 100:
        raise UsageProblem(f"The band {text.strip()} must go from a smaller percentage to a larger one, up to 100.")
    return TurnBand(start, end, "light" if found[3] == "light" else "heavy")


class Passage(NamedTuple):
    """The words of one line."""

    id: str
    """The line's own id."""
    turn: int
    """Counted from 0."""
    role: Literal["assistant", "user"]
    text: str


class PassageRedactor:
    """Takes what must not leave from passages before they are sent, and puts it back into what comes of them; without a
    finder, they are sent as they are."""

    def __init__(self, finder: Finder | None, passages: Sequence[Passage]) -> None:
        self._originals: dict[str, str] = {}
        self._names = UnsaidNames("\n".join(passage.text for passage in passages))
        self.passages = [passage._replace(text=self._redacted(passage.text, finder)) for passage in passages]
        self.count = len(self._names.values)
        """How many different values were replaced."""

    def _redacted(self, text: str, finder: Finder | None) -> str:
        if finder is None:
            return text
        made, found = redact_text(text, finder, self._names)
        for match in found:
            name, stretch = self._names.of(match), text[match.start : match.end]
            if self._originals.setdefault(name, stretch) != stretch:
                self._originals[name] = match.value  # it stood there in several disguises
        return made

    def restored(self, text: str) -> str:
        """A text with what its names stand for."""
        originals = {**self._names.values, **self._originals}
        if not originals:
            return text
        longest_first = sorted(originals, key=len, reverse=True)
        named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
        for _ in range(_NESTED):
            text = named.sub(lambda found: originals[found[0]], text)
        return text


class UnsaidNames(ReplacementNames):
    """Names that a text does not hold already, so that each tells what it stands for; the values stay in memory."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self._said = said
        self.values: dict[str, str] = {}

    def of(self, match: SecretMatch) -> str:
        name = super().of(match)
        self.values[name] = match.value
        return name

    def _free(self, form: str) -> str:
        while (name := super()._free(form)) and name in self._said:
            pass
        return name


class CompressOptions(NamedTuple):
    """What is asked for beside the bands."""

    turns: int = 0
    """Turns of the whole session; 0: as many as the passages tell of."""
    user: bool = False
    """Whether what the person wrote is shortened too."""
    minimum: int = 50
    """Passages of fewer tokens stay as they are."""
    width: int = 0
    """Requests at once; 0: as many as the provider is good for."""


PLAIN = CompressOptions()


class ChosenPassage(NamedTuple):
    """A passage that is to be shortened."""

    passage: Passage
    level: Level
    tokens: int
    """Estimated."""

    @property
    def target(self) -> int:
        """Tokens that are aimed at."""
        return max(1, self.tokens * SHARES[self.level] // 100)


class PassageChoice(NamedTuple):
    """What is shortened, and how many passages of the bands are too short for it."""

    chosen: tuple[ChosenPassage, ...]
    skipped: int


def choose_passages(passages: Sequence[Passage], bands: TurnBands, wish: CompressOptions = PLAIN) -> PassageChoice:
    """The passages that fall into a band and are long enough."""
    if len({passage.id for passage in passages}) != len(passages):
        raise ValueError("a line has one passage")
    turns = wish.turns or max((passage.turn for passage in passages), default=0) + 1
    chosen, skipped = list[ChosenPassage](), 0
    for passage in passages:
        level = bands.level(passage.turn, turns)
        if level is None or (passage.role == "user" and not wish.user):
            continue
        tokens = estimate_tokens(passage.text)
        if tokens < wish.minimum:
            skipped += 1
        else:
            chosen.append(ChosenPassage(passage, level, tokens))
    return PassageChoice(tuple(chosen), skipped)


class ShortenedPassage(NamedTuple):
    """One passage, shorter or as it was."""

    chosen: ChosenPassage
    text: str | None
    """None where the original stays."""
    tokens: int
    """Estimated, of what stands now."""
    why: str = ""
    """What went wrong where it stays."""
    attempts: int = 0
    ms: int = 0


class CompressStats(msgspec.Struct, frozen=True):
    """Sums; tokens are of the passages that were to be shortened, estimated."""

    compressed: int = 0
    skipped: int = 0
    """Passages of the bands that were too short to be sent."""
    failed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    ms: int = 0


class CompressOutcome(NamedTuple):
    """Everything that a caller needs of it."""

    stats: CompressStats
    details: tuple[ShortenedPassage, ...]
    """In the order of the passages."""

    @property
    def texts(self) -> dict[str, str]:
        """The new words, by the ids of their lines."""
        return {one.chosen.passage.id: one.text for one in self.details if one.text is not None}

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why passages stayed as they were, the most frequent reason first."""
        counts = dict[str, int]()
        for one in self.details:
            if one.text is None:
                counts[one.why] = counts.get(one.why, 0) + 1
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def sum_outcome(details: Iterable[ShortenedPassage], skipped: int, ms: int) -> CompressOutcome:
    every = tuple(details)
    done = sum(one.text is not None for one in every)
    before, after = sum(one.chosen.tokens for one in every), sum(one.tokens for one in every)
    return CompressOutcome(CompressStats(done, skipped, len(every) - done, before, after, ms), every)


def write_record(outcome: CompressOutcome, path: Path, provider: str) -> None:
    """Write the file, readable by its owner alone, whole or not at all."""
    write_atomically(path, (f"{part}\n\n".encode("utf-8", "replace") for part in _parts(outcome, provider)))


def _parts(outcome: CompressOutcome, provider: str) -> Iterator[str]:
    stats = outcome.stats
    yield "# Compression: before and after"
    counts = f"{stats.compressed} compressed, {stats.skipped} too short, {stats.failed} kept after a failure"
    yield f"By {one_line(provider)} in {human.duration(stats.ms / 1000)}: {counts}."
    before, after = stats.tokens_before, stats.tokens_after
    yield f"Tokens (estimated): {before} before, {after} after{_share(before, after)}."
    for one in outcome.details:
        yield from _one(one)


def _one(one: ShortenedPassage) -> Iterator[str]:
    passage = one.chosen.passage
    yield f"## Turn {passage.turn + 1}, {passage.role}, line `{one_line(passage.id).replace('`', '')}`"
    tries = human.count(one.attempts, "attempt")
    if one.text is None:
        yield f"Kept: {one_line(one.why)} ({one.chosen.level}, {tries})."
        return
    share = _share(one.chosen.tokens, one.tokens)
    time = human.duration(one.ms / 1000)
    yield f"{one.chosen.level}: {one.chosen.tokens} tokens before, {one.tokens} after{share}; {tries}, {time}."
    yield "Before:"
    yield code_block(passage.text)
    yield "After:"
    yield code_block(one.text)


def _share(before: int, after: int) -> str:
    return f" ({after * 100 // before} %)" if before else ""
