"""The doctor names what the newest logs hold that nobody knows, and costs that do not agree."""

from pathlib import Path

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.store.sync.scenes import seen
from unspool.store.sync.source_checks import check_reading


def spent(root: Path, reported: float) -> LogBuilder:
    """A session of one request that costs $1.50, of which the agent says another figure."""
    log = LogBuilder(model="claude-opus-5").prompt("Go.")
    log.assistant(log.text("Gone."), usage=DemoTokens(input=200_000, output=20_000))
    log.side("cost-state", totalCostUSD=reported)
    log.write(root)
    return log


def test_known_lines_are_well(tmp_path: Path) -> None:
    spent(tmp_path / "root", 1.50)
    (finding,) = seen(check_reading, tmp_path / "none", tmp_path / "root")
    assert finding.level == "ok"


def test_unknown_types_and_fields_are_named_with_count_version_and_place(tmp_path: Path) -> None:
    log = LogBuilder(version="2.1.999").prompt("Go.", omen="two words")
    log.side("tide-oracle", verdict="yes").side("tide-oracle", verdict="no")
    path = log.write(tmp_path / "root")
    (finding,) = seen(check_reading, tmp_path / "none", tmp_path / "root")
    assert finding.level == "note"
    assert finding.details == (
        f"tide-oracle: 2 lines, version 2.1.999, for example {path}:2",
        f"user.omen: 1 line, version 2.1.999, for example {path}:1",
    )
    assert "verdict" not in "".join(finding.details)


def test_a_cost_that_is_not_the_agents_is_told(tmp_path: Path) -> None:
    log = spent(tmp_path / "root", 2.25)
    known, finding = seen(check_reading, tmp_path / "none", tmp_path / "root")
    assert (known.level, finding.level) == ("ok", "note")
    assert finding.details == (f"{log.session_id}: $1.50 by its requests, $2.25 by the agent",)


def test_a_cent_more_or_less_is_not_told(tmp_path: Path) -> None:
    spent(tmp_path / "root", 1.51)
    assert len(seen(check_reading, tmp_path / "none", tmp_path / "root")) == 1
