"""Every address of a share."""

from unspool.hub.shares import api, view
from unspool.hub.ways import Needs, Way

_CHANGES = ("all", "push")

WAYS = (
    Way("/api/sessions", api.session, Needs.SHARING, "share.create", "POST", _CHANGES, body=0),
    Way("/api/sessions/{address}", view.document, Needs.NOTHING, "share.read"),
    Way("/api/shares", api.sent, Needs.SHARING, "share.create", "POST", _CHANGES, body=0),
    Way("/api/shares", api.listed, Needs.PERSON),
    Way("/api/shares/{address}", api.one, Needs.MINE),
    Way("/api/shares/{address}", api.replaced, Needs.MINE, "share.update", "PUT", _CHANGES, body=0),
    Way("/api/shares/{address}", api.patched, Needs.MINE, "share.change", "PATCH", _CHANGES),
    Way("/api/shares/{address}", api.deleted, Needs.MINE, "share.delete", "DELETE", _CHANGES),
    Way("/{address}", view.bare, Needs.NOTHING),
    Way("/{address}/", view.shown, Needs.NOTHING, "share.read"),
    Way("/{address}/", view.opened, Needs.NOTHING, "share.open", "POST", body=8 * 1024),
    Way("/{address}/assets/{asset}", view.asset, Needs.NOTHING),
    Way("/{address}/{name:path}", view.shown, Needs.NOTHING, "share.read"),
)
