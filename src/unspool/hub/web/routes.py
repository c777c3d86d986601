"""The addresses of the pages that are the hub's own."""

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
    _form("/people/invitations/{id}/end", admin.end_invitation_form, _ADMIN, "invitation.revoke"),
    _form("/people/services", admin.create_service_form, _ADMIN, "person.add"),
    _form("/people/teams", admin.create_team_form, _ADMIN, "team.make"),
    _form("/people/teams/{team}/join", admin.join_team_form, _ADMIN, "team.join"),
    _form("/people/teams/{team}/leave", admin.leave_team_form, _ADMIN, "team.leave"),
    _form("/people/teams/{team}/end", admin.delete_team_form, _ADMIN, "team.end"),
    _form("/people/{person}/end", admin.deactivate_form, _ADMIN, "person.end"),
    _form("/people/{person}/back", admin.reactivate_form, _ADMIN, "person.back"),
    _form("/people/{person}/change", admin.change_person_form, _ADMIN, "person.change"),
    _form("/projects", admin.create_project_form, _IN, "project.make"),
    HubRoute("/projects/{project}/rights", admin.rights_page, _OWN),
    _form("/projects/{project}/rights", admin.grant_form, _OWN, "permit.give"),
    HubRoute("/audit", admin.audit_page, _ADMIN, "audit.read"),
)
