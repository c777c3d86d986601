"""The addresses of the pages that are the hub's own."""

from unspool.hub.people import operations
from unspool.hub.routes import HubRoute, Needs
from unspool.hub.web import admin, pages, render

_OPEN, _IN, _ADMIN, _OWN = Needs.NOTHING, Needs.PERSON, Needs.ADMIN, Needs.OWN
_CHANGES = ("all",)


def _form(path: str, handler: object, needs: Needs, act: str) -> HubRoute:
    """A way that a form of a page takes."""
    return HubRoute(path, handler, needs, act, "POST", _CHANGES)  # type: ignore[arg-type]


ROUTES = (
    HubRoute("/", pages.home, _OPEN),
    HubRoute("/sessions", pages.sessions_page, _IN, "session.list"),
    HubRoute("/sessions/{session}/story", pages.story_page, Needs.READ, "session.read"),
    HubRoute("/search", pages.search_page, _IN, "session.search"),
    HubRoute("/usage", pages.usage_page, _IN, "session.usage"),
    HubRoute("/shares", pages.shares_page, _IN),
    HubRoute("/shares", pages.upload_form, _IN, "share.create", "POST", _CHANGES, body=0),
    _form("/shares/{address}", pages.change_share_form, Needs.MINE, "share.change"),
    _form("/shares/{address}/end", pages.end_share_form, Needs.MINE, "share.delete"),
    HubRoute("/sign-in", render.sign_in_page, _OPEN),
    _form("/sign-in", render.sign_in, _OPEN, "browser.in"),
    _form("/sign-out", render.sign_out, _OPEN, "browser.out"),
    HubRoute("/join/{secret}", render.invitation_page, _OPEN),
    _form("/join/{secret}", render.join, _OPEN, "invitation.take"),
    HubRoute("/me", pages.me_page, _IN),
    _form("/me/tokens", pages.create_token_form, _IN, "token.make"),
    _form("/me/tokens/{token}/end", pages.end_token_form, _IN, "token.revoke"),
    HubRoute("/people", admin.people_page, _ADMIN),
    _form("/people/invite", admin.invite_form, _ADMIN, "invitation.make"),
    admin.form("/people/invitations/{id}/end", operations.end_invitation, _ADMIN, "invitation.revoke", "/people"),
    _form("/people/services", admin.create_service_form, _ADMIN, "person.add"),
    admin.form("/people/teams", operations.add_team, _ADMIN, "team.make", "/people#teams"),
    admin.form("/people/teams/{team}/join", operations.join_team, _ADMIN, "team.join", "/people#teams"),
    admin.form("/people/teams/{team}/leave", operations.leave_team, _ADMIN, "team.leave", "/people#teams"),
    admin.form("/people/teams/{team}/end", operations.end_team, _ADMIN, "team.end", "/people#teams"),
    admin.form("/people/{person}/end", operations.end_person, _ADMIN, "person.end", "/people"),
    admin.form("/people/{person}/back", operations.bring_back_person, _ADMIN, "person.back", "/people"),
    admin.form("/people/{person}/change", operations.change_person, _ADMIN, "person.change", "/people"),
    _form("/projects", admin.create_project_form, _IN, "project.make"),
    HubRoute("/projects/{project}/rights", admin.rights_page, _OWN),
    _form("/projects/{project}/rights", admin.grant_form, _OWN, "permit.give"),
    HubRoute("/audit", admin.audit_page, _ADMIN, "audit.read"),
)
