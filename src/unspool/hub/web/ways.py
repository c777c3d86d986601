"""The addresses of the pages that are the hub's own."""

from unspool.hub.ways import Needs, Way
from unspool.hub.web import audit, browse, me, people, rights, shares, signing

_OPEN, _IN, _ADMIN, _OWN = Needs.NOTHING, Needs.PERSON, Needs.ADMIN, Needs.OWN
_CHANGES = ("all",)


def _form(path: str, handler: object, needs: Needs, act: str) -> Way:
    """A way that a form of a page takes."""
    return Way(path, handler, needs, act, "POST", _CHANGES)  # type: ignore[arg-type]


WAYS = (
    Way("/", browse.home, _OPEN),
    Way("/sessions", browse.sessions, _IN, "session.list"),
    Way("/sessions/{session}/story", browse.story, Needs.READ, "session.read"),
    Way("/search", browse.searched, _IN, "session.search"),
    Way("/usage", browse.used, _IN, "session.usage"),
    Way("/shares", shares.shares, _IN),
    Way("/shares", shares.sent, _IN, "share.create", "POST", _CHANGES, body=0),
    _form("/shares/{address}", shares.changed, Needs.MINE, "share.change"),
    _form("/shares/{address}/end", shares.ended, Needs.MINE, "share.delete"),
    Way("/sign-in", signing.asked, _OPEN),
    _form("/sign-in", signing.signed_in, _OPEN, "browser.in"),
    _form("/sign-out", signing.signed_out, _OPEN, "browser.out"),
    Way("/join/{secret}", signing.invited, _OPEN),
    _form("/join/{secret}", signing.joined, _OPEN, "invitation.take"),
    Way("/me", me.me, _IN),
    _form("/me/tokens", me.token_made, _IN, "token.make"),
    _form("/me/tokens/{token}/end", me.token_ended, _IN, "token.revoke"),
    Way("/people", people.people, _ADMIN),
    _form("/people/invite", people.invite, _ADMIN, "invitation.make"),
    _form("/people/invitations/{id}/end", people.invitation_ended, _ADMIN, "invitation.revoke"),
    _form("/people/services", people.service_made, _ADMIN, "person.add"),
    _form("/people/teams", people.team_made, _ADMIN, "team.make"),
    _form("/people/teams/{team}/join", people.team_joined, _ADMIN, "team.join"),
    _form("/people/teams/{team}/leave", people.team_left, _ADMIN, "team.leave"),
    _form("/people/teams/{team}/end", people.team_ended, _ADMIN, "team.end"),
    _form("/people/{person}/end", people.person_ended, _ADMIN, "person.end"),
    _form("/people/{person}/back", people.person_back, _ADMIN, "person.back"),
    _form("/people/{person}/change", people.person_changed, _ADMIN, "person.change"),
    _form("/projects", rights.made, _IN, "project.make"),
    Way("/projects/{project}/rights", rights.rights, _OWN),
    _form("/projects/{project}/rights", rights.given, _OWN, "permit.give"),
    Way("/audit", audit.audit, _ADMIN, "audit.read"),
)
