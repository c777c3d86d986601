"""What was before and what is after, as a Markdown file for a person to check."""

from collections.abc import Iterator
from pathlib import Path

from unspool import human
from unspool.clone.compress.outcome import Outcome, Shortened
from unspool.export.gfm import fenced
from unspool.export.inert import one_line
from unspool.files import write_atomically


def write_record(outcome: Outcome, path: Path, provider: str) -> None:
    """Write the file, readable by its owner alone, whole or not at all."""
    write_atomically(path, (f"{part}\n\n".encode("utf-8", "replace") for part in _parts(outcome, provider)))


def _parts(outcome: Outcome, provider: str) -> Iterator[str]:
    stats = outcome.stats
    yield "# Compression: before and after"
    counts = f"{stats.compressed} compressed, {stats.skipped} too short, {stats.failed} kept after a failure"
    yield f"By {one_line(provider)} in {human.duration(stats.ms / 1000)}: {counts}."
    before, after = stats.tokens_before, stats.tokens_after
    yield f"Tokens (estimated): {before} before, {after} after{_share(before, after)}."
    for one in outcome.details:
        yield from _one(one)


def _one(one: Shortened) -> Iterator[str]:
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
    yield fenced(passage.text)
    yield "After:"
    yield fenced(one.text)


def _share(before: int, after: int) -> str:
    return f" ({after * 100 // before} %)" if before else ""
