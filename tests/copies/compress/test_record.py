"""Before and after of every passage, for a person to check."""

from pathlib import Path

from unspool.copies.compress.passages import (
    ChosenPassage,
    CompressOutcome,
    Passage,
    ShortenedPassage,
    sum_outcome,
    write_record,
)


def outcome(before: str, after: str | None, why: str = "", line: str = "line-0") -> CompressOutcome:
    chosen = ChosenPassage(Passage(line, 2, "assistant", before), "heavy", 200)
    return sum_outcome([ShortenedPassage(chosen, after, 200 if after is None else 20, why, 2, 1500)], 3, 4200)


def test_before_and_after_stand_side_by_side(tmp_path: Path) -> None:
    write_record(outcome("Long words.", "Short."), tmp_path / "log.md", "house.example")
    text = (tmp_path / "log.md").read_text()
    assert "By house.example in 4.2 s: 1 compressed, 3 too short, 0 kept after a failure." in text
    assert "Tokens (estimated): 200 before, 20 after (10 %)." in text
    assert "## Turn 3, assistant, line `line-0`" in text
    assert "heavy: 200 tokens before, 20 after (10 %); 2 attempts, 1.5 s." in text
    assert "Before:\n\n```\nLong words.\n```\n\nAfter:\n\n```\nShort.\n```\n" in text


def test_what_was_kept_says_why(tmp_path: Path) -> None:
    write_record(outcome("Long words.", None, "it\x1b[2J failed\nbadly"), tmp_path / "log.md", "p")
    text = (tmp_path / "log.md").read_text()
    assert "Kept: it failed badly (heavy, 2 attempts)." in text
    assert "After:" not in text


def test_the_file_is_private(tmp_path: Path) -> None:
    """It holds whatever the session held."""
    write_record(outcome("a", "b"), tmp_path / "log.md", "p")
    assert (tmp_path / "log.md").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["log.md"]


def test_no_passage_breaks_out(tmp_path: Path) -> None:
    """Neither fences nor terminal controls nor half characters."""
    write_record(
        outcome("```\n# Not a heading\n````\n\x1b[2J\ud800", "x", line="a`b\n# c"), tmp_path / "log.md", "p\n# q"
    )
    lines = (tmp_path / "log.md").read_text().split("\n")
    assert lines.count("`````") == 2
    assert [line for line in lines if line.startswith("# ")] == ["# Compression: before and after", "# Not a heading"]
    assert "\x1b" not in "".join(lines)


def test_an_empty_outcome_can_be_written(tmp_path: Path) -> None:
    write_record(sum_outcome([], 0, 0), tmp_path / "log.md", "p")
    assert "0 before, 0 after." in (tmp_path / "log.md").read_text()
