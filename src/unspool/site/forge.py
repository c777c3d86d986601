"""Where a repository can be looked at on the web, and which commit shows a file as it was."""

import re
from datetime import datetime

from unspool.figures import Figures
from unspool.model import Commit

_WEB = re.compile(r"https?://[\w.:-]+/[\w./~-]+")
_REMOTE = re.compile(
    r"(?:ssh://|git://|https?://)?(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)(?::\d+)?[:/](?P<name>[\w./~-]+)"
)
_PULL = re.compile(r"(https?://.+?)/(?:-/)?(?:pull|merge_requests)/\d+")
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_USUAL_HOST = "https://github.com"


def repository(asked: str, counted: Figures) -> str:
    """The repository's web address: what was asked for, else what the session pushed to; empty where unknown."""
    if asked:
        return web_address(asked)
    for push in counted.pushes:
        pull = _PULL.match(push.url)
        found = pull[1] if pull else web_address(push.url)
        if found:
            return found
    return web_address(counted.repository)


def web_address(name: str) -> str:
    """The web address of `owner/name`, of a remote as git writes it, or of an address; empty for anything else."""
    name = name.strip().rstrip("/").removesuffix(".git")
    if _WEB.fullmatch(name):
        return name
    if _NAME.fullmatch(name):
        return f"{_USUAL_HOST}/{name}"
    remote = _REMOTE.fullmatch(name)
    return f"https://{remote['host']}/{remote['name'].strip('/')}" if remote else ""


def commit_at(commits: tuple[Commit, ...], time: datetime | None) -> str:
    """The first commit made from a time on: it shows files as they then were left; the last one after that."""
    if time is not None:
        for commit in commits:
            if commit.time is not None and commit.time >= time:
                return commit.hash
    return commits[-1].hash if commits else ""
