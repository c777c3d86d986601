"""The team archive: sessions that were pushed, kept byte for byte, found and counted.

pieces      what was sent, proved and kept once
push        a session of pieces, seen whole or not at all
making      what the hub makes of one, in a process of its own: facts, words, requests, pages
versions    nothing that was pushed is lost by another push
viewing     pages as they lie in the store
files       the files as they were sent
listing, search, story, usage   what is told of them, each over what a person may see
"""

from unspool.hub.sessions import api, files, viewing
from unspool.hub.ways import Needs, Way
from unspool.remote.manifest import MANIFEST, PACKED

_PUSH = ("all", "push")
_PROJECT = "/api/projects/{project}"
_SESSION = "/api/archive/{session}"

WAYS = (
    Way("/api/policy", api.policy, Needs.PERSON, scopes=("all", "read", "push")),
    Way(f"{_PROJECT}/have", api.have, Needs.WRITE, method="POST", scopes=_PUSH, body=2 * 1024 * 1024),
    Way(f"{_PROJECT}/blobs/{{digest}}", api.piece, Needs.WRITE, method="PUT", scopes=_PUSH, body=PACKED),
    Way(f"{_PROJECT}/sessions", api.pushed, Needs.WRITE, "session.push", "POST", _PUSH, MANIFEST),
    Way(f"{_PROJECT}/sessions", api.of_project, Needs.READ, "session.list"),
    Way("/api/archive", api.everywhere, Needs.PERSON, "session.list"),
    Way(_SESSION, api.told, Needs.READ, "session.read"),
    Way(f"{_SESSION}/story", api.told_story, Needs.READ, "session.read"),
    Way(f"{_SESSION}/files", files.listed, Needs.READ, "session.read"),
    Way(f"{_SESSION}/files/{{name:path}}", files.one, Needs.READ, "session.download"),
    Way(f"{_SESSION}/log", files.log, Needs.READ, "session.download"),
    Way("/api/search", api.searched, Needs.PERSON, "session.search"),
    Way("/api/usage", api.used, Needs.PERSON, "session.usage"),
    Way("/sessions/{session}/", viewing.page, Needs.READ, "session.view"),
    Way("/sessions/{session}/{page:path}", viewing.page, Needs.READ, "session.view"),
)
