"""The team archive: sessions that were pushed, kept byte for byte, found and counted."""

from unspool.hub.routes import HubRoute, Needs
from unspool.hub.sessions import api, pages
from unspool.hub_client.manifest import MANIFEST, PACKED

_PUSH = ("all", "push")
_PROJECT = "/api/projects/{project}"
_SESSION = "/api/archive/{session}"

ROUTES = (
    HubRoute("/api/policy", api.get_policy, Needs.PERSON, scopes=("all", "read", "push")),
    HubRoute(f"{_PROJECT}/have", api.have, Needs.WRITE, method="POST", scopes=_PUSH, body=2 * 1024 * 1024),
    HubRoute(f"{_PROJECT}/blobs/{{digest}}", api.piece, Needs.WRITE, method="PUT", scopes=_PUSH, body=PACKED),
    HubRoute(f"{_PROJECT}/sessions", api.take_push, Needs.WRITE, "session.push", "POST", _PUSH, MANIFEST),
    HubRoute(f"{_PROJECT}/sessions", api.list_project_sessions, Needs.READ, "session.list"),
    HubRoute("/api/archive", api.list_all_sessions, Needs.PERSON, "session.list"),
    HubRoute(_SESSION, api.get_session, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/story", api.get_story, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/files", pages.list_files, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/files/{{name:path}}", pages.get_file, Needs.READ, "session.download"),
    HubRoute(f"{_SESSION}/log", pages.get_log, Needs.READ, "session.download"),
    HubRoute("/api/search", api.search_sessions, Needs.PERSON, "session.search"),
    HubRoute("/api/usage", api.get_usage, Needs.PERSON, "session.usage"),
    HubRoute("/sessions/{session}/", pages.get_page, Needs.READ, "session.view"),
    HubRoute("/sessions/{session}/{page:path}", pages.get_page, Needs.READ, "session.view"),
)
