"""One session published as a gist by a command that makes pages: what must not leave is replaced on the way."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.prices import PriceTable
    from unspool.redact.match import Finding
    from unspool.share.choices import Choices
    from unspool.site.build.gist import Gist
    from unspool.site.options import SiteOptions


class Published(NamedTuple):
    """Where a gist is, and what was replaced in it, in a sentence."""

    gist: "Gist"
    note: str


def published(log: Path, site: "SiteOptions", prices: "PriceTable", *, allow: bool, public: bool) -> Published:
    """Publish the session of a log as it was chosen for its project; `allow` lets secrets stay."""
    from unspool.app.config.place import folder
    from unspool.library import Library
    from unspool.redact.rules import OWN, own
    from unspool.share.ask import Ask
    from unspool.share.choices import remembered
    from unspool.share.gist import publish
    from unspool.share.prepare import prepared

    ask = Ask(remembered, own(folder() / OWN), review=_allowed if allow else None)
    with prepared(Library(prices=prices), [str(log.absolute())], ask) as share:
        return Published(publish(share, site, prices, public=public), share.report.note())


def _allowed(findings: "Sequence[Finding]", choices: "Choices") -> "Choices":
    """The choices with every rule kept that found a secret."""
    from msgspec.structs import replace

    secret = {one.match.rule for one in findings if one.match.kind == "secret"}
    return replace(choices, keep=choices.keep | secret)
