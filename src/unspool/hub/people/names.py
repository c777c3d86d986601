"""Names that people, teams and projects go by."""

import re
import unicodedata

from unspool.hub.trouble import Unfit

MOST = 100
"""Characters of a name."""
_FORBIDDEN = frozenset('/\\,"<>')
_ID = re.compile("[0-9a-f]{16,}")


def fit(name: str, what: str = "name") -> str:
    """A name as it is kept; Unfit where it is none that a page, an address and a terminal can all show."""
    kept = unicodedata.normalize("NFC", name).strip()
    if not kept or len(kept) > MOST:
        raise Unfit(f"A {what} has 1 to {MOST} characters.")
    if not kept.isprintable() or not _FORBIDDEN.isdisjoint(kept):
        raise Unfit(f"A {what} has no control characters, slashes, commas, quotes or angle brackets.")
    if kept.startswith((".", "-")):
        raise Unfit(f"A {what} begins with neither a dot nor a hyphen.")
    if _ID.fullmatch(kept):
        raise Unfit(f"A {what} does not look like an id: it could be taken for another's.")
    return kept
