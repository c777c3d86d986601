"""Which session a file belongs to, told from its path below the agent's folder alone."""

_PROJECTS = "projects/"
_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_BY_FOLDER = ("tasks/", "file-history/")
_NOT_SESSIONS = ("memory", "journal")


def belongs(path: str) -> str:
    """The id of the session that a file is of; empty where it is no single session's."""
    if path.startswith("todos/"):
        return path[len("todos/") :].partition("-agent-")[0] if "-agent-" in path else ""
    for folder in _BY_FOLDER:
        if path.startswith(folder):
            return path[len(folder) :].partition("/")[0] if path.count("/") > 1 else ""
    inside = _inside(path)
    if len(inside) > 1:
        return "" if inside[0] in _NOT_SESSIONS else inside[0]
    return "" if path.startswith("plans/") or path == "history.jsonl" else _session(inside[0])


def is_session(path: str) -> bool:
    """Whether a file is a session's own log."""
    inside = _inside(path)
    return len(inside) == 1 and bool(_session(inside[0])) and bool(belongs(path))


def is_agent_beside(path: str) -> bool:
    """Whether a file is a subagent's log that lies among the sessions; only its lines tell whose."""
    inside = _inside(path)
    return len(inside) == 1 and inside[0].startswith("agent-") and bool(_stem(inside[0]))


def _inside(path: str) -> list[str]:
    """The names below the project's folder; in a source that is one project's folder, all of them."""
    names = path.removeprefix(_PROJECTS).split("/")
    return names[1:] if len(names) > 1 and (path.startswith(_PROJECTS) or not _looks_like_id(names[0])) else names


def _looks_like_id(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4


def _session(name: str) -> str:
    stem = _stem(name)
    return "" if stem.startswith("agent-") or stem in _NOT_SESSIONS or name.startswith(".") else stem


def _stem(name: str) -> str:
    return next((name[: -len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), "")
