"""Plans and what became of them: which listed sessions continue which."""

import json
from array import array
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import apsw
import msgspec

from unspool.app.browse.listing import Listed
from unspool.app.browse.rows import Chain
from unspool.app.marks import Said
from unspool.library.chains import Skimmed, linked
from unspool.model import Overview
from unspool.site.brief import flat

_KINDS = ("planning", "implementation")
_MOST = 300
"""Plans and implementations of the listed projects that are looked at, the nearest in time first."""
_QUERY = """SELECT overview, ids FROM session WHERE project IN (SELECT value FROM json_each(?))
AND kind IN ('planning', 'implementation') ORDER BY abs(coalesce(ended, started, 0) - ?) LIMIT ?"""
_RELATIONS = {"source": "continues", "follow-up": "continued by", "copied-from": "copied from", "moved-to": "moved to"}


def chains(db: apsw.Connection, listed: Sequence[Listed], said: Said) -> dict[str, list[Chain]]:
    """The neighbours of the listed sessions that plan or carry out a plan."""
    planned = [one for one in listed if one.kind in _KINDS]
    if not planned:
        return {}
    middle = planned[len(planned) // 2].time or 0
    projects = json.dumps(sorted({one.project for one in planned}))
    rows: Iterable[Any] = db.execute(_QUERY, (projects, middle, _MOST))
    decode = msgspec.msgpack.Decoder(Overview).decode
    skimmed = [Skimmed(decode(packed), array("Q", ids)) for packed, ids in rows if packed]
    wanted = {one.key for one in planned}
    return {
        overview.id: [
            Chain(
                _RELATIONS[link.relation], _title(link.session, link.title, said), f"/s/{quote(link.session, safe='')}/"
            )
            for link in overview.links
        ]
        for overview in linked(skimmed)
        if overview.id in wanted
    }


def _title(session: str, title: str, said: Said) -> str:
    return said.of(session).title or flat(title, 80) or session
