"""Every real log of moderate size: shared, taken in elsewhere, and resumable there."""

from pathlib import Path

from tests.clone.making import faults
from unspool.clone.move import Move
from unspool.clone.parcel import received
from unspool.clone.source import opened
from unspool.errors import Unsound
from unspool.library import Library
from unspool.redact.rules import builtin
from unspool.share.ask import Ask
from unspool.share.bundle import write_bundle
from unspool.share.choices import Choices
from unspool.share.pages import Pages
from unspool.share.prepare import prepared
from unspool.site.options import SiteOptions

LARGEST = 400_000
EVERYTHING = Ask(lambda _: Choices(), builtin(), environment={"USER": "nobody-here"})


def test_every_real_log_is_shared_and_resumes_elsewhere(shared: Path, tmp_path: Path) -> None:
    library = Library((shared / "corpora" / "claude",))
    logs = [log for log in library.logs() if log.size <= LARGEST]
    made = empty = 0
    for log in logs:
        try:
            with prepared(library, [log], EVERYTHING) as share:
                bundle = write_bundle(share, tmp_path / f"{made}.tar.gz")
                names = [name for name, _ in Pages(share, SiteOptions(), library.prices).files()]
        except Unsound:
            empty += 1  # it holds no conversation
            continue
        assert {"index.html", "report.json", "preview.svg"} <= set(names)
        with received(str(bundle)) as (first, *_), opened(library, str(first)) as source:
            lines = list(Move(tmp_path / "tool", tmp_path / "home").drawn(source.log, "", "import").copy.chunks())
        assert faults(lines) == [], log.path
        made += 1
    assert made > 30
    assert empty < 5
