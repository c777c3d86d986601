"""Every real log of moderate size: shared, taken in elsewhere, and resumable there."""

from pathlib import Path

from tests.copies.making import faults
from tests.thorough import some, tries
from unspool.copies.fork import Move
from unspool.copies.original import open_source
from unspool.errors import Unsound
from unspool.redact.rules import builtin_rules
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.prepare import prepare_shares
from unspool.share.publish import SharePages, write_bundle
from unspool.site.options import SiteOptions
from unspool.store.library import Library
from unspool.store.library.bundle import receive_logs

LARGEST = 400_000
EVERYTHING = ShareSettings(lambda _: ShareChoices(), builtin_rules(), environment={"USER": "nobody-here"})


def test_every_real_log_is_shared_and_resumes_elsewhere(shared: Path, tmp_path: Path) -> None:
    library = Library((shared / "corpora" / "claude",))
    logs = [log for log in some(list(library.logs()), 4) if log.size <= LARGEST]
    made = empty = 0
    for log in logs:
        try:
            with prepare_shares(library, [log], EVERYTHING) as share:
                bundle = write_bundle(share, tmp_path / f"{made}.tar.gz")
                names = [name for name, _ in SharePages(share, SiteOptions(), library.prices).files()]
        except Unsound:
            empty += 1  # it holds no conversation
            continue
        assert {"index.html", "report.json", "preview.svg"} <= set(names)
        with receive_logs(str(bundle)) as (first, *_), open_source(library, str(first)) as source:
            lines = list(Move(tmp_path / "tool", tmp_path / "home").drawn(source.log, "", "import").copy.chunks())
        assert faults(lines) == [], log.path
        made += 1
    assert made > tries(7, 30)
    assert empty < 5
