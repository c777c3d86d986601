"""Every address of a share."""

from unspool.hub.routes import HubRoute, Needs
from unspool.hub.shares import api, pages

_CHANGES = ("all", "push")

ROUTES = (
    HubRoute("/api/sessions", api.upload_compatible, Needs.SHARING, "share.create", "POST", _CHANGES, body=0),
    HubRoute("/api/sessions/{address}", pages.show_document, Needs.NOTHING, "share.read"),
    HubRoute("/api/shares", api.upload_share, Needs.SHARING, "share.create", "POST", _CHANGES, body=0),
    HubRoute("/api/shares", api.list_shares, Needs.PERSON),
    HubRoute("/api/shares/{address}", api.get_share, Needs.MINE),
    HubRoute("/api/shares/{address}", api.replace_share, Needs.MINE, "share.update", "PUT", _CHANGES, body=0),
    HubRoute("/api/shares/{address}", api.change_share, Needs.MINE, "share.change", "PATCH", _CHANGES),
    HubRoute("/api/shares/{address}", api.delete_share, Needs.MINE, "share.delete", "DELETE", _CHANGES),
    HubRoute("/{address}", pages.redirect_to_pages, Needs.NOTHING),
    HubRoute("/{address}/", pages.show_file, Needs.NOTHING, "share.read"),
    HubRoute("/{address}/", pages.take_password, Needs.NOTHING, "share.open", "POST", body=8 * 1024),
    HubRoute("/{address}/assets/{asset}", pages.show_asset, Needs.NOTHING),
    HubRoute("/{address}/{name:path}", pages.show_file, Needs.NOTHING, "share.read"),
)
