"""What a site was made of: kept in its folder, so that the next run makes only what has changed.

It names no path of the machine that made it, since a site may be published with it: logs are known by a digest.
"""

from hashlib import blake2b
from pathlib import Path

import msgspec

from unspool.site.address import INDEX
from unspool.site.build.disk import replace
from unspool.site.build.neighbourhood import Start, Told
from unspool.site.card import Card

NAME = ".unspool.json"
VERSION = 1


class Project(msgspec.Struct, frozen=True):
    """A project's place in the site, for as long as the site lives."""

    folder: str
    path: str
    """The project's path as its logs tell it."""


class Kept(msgspec.Struct, omit_defaults=True):
    """One session of the site."""

    id: str
    project: str
    """Key of its project."""
    folder: str
    """Its folder below the project's."""
    log: str
    """Digest of the bytes it was made of."""
    start: Start
    told: Told = Told()
    key: str = ""
    """Digest of everything its pages were made of; empty where they could not be made."""
    card: Card | None = None
    """What indexes show of it; None where it has no pages."""


class Manifest(msgspec.Struct):
    """Everything a site holds; projects and sessions by digests of the paths they come from."""

    version: int = VERSION
    indexed: str = ""
    """What the indexes were made with; empty while sessions change below them."""
    projects: dict[str, Project] = {}
    sessions: dict[str, Kept] = {}

    def place(self, kept: Kept) -> str:
        """Where a session lies below the site's root."""
        return f"{self.projects[kept.project].folder}/{kept.folder}"

    def addresses(self) -> dict[str, str]:
        """The first page of every session, relative to the site's root, by the session's id."""
        return {kept.id: f"{self.place(kept)}/{INDEX}" for kept in self.sessions.values()}

    def save(self, site: Path) -> None:
        replace(site / NAME, msgspec.json.encode(self))


def load(site: Path) -> Manifest:
    """The manifest of a site; a fresh one where there is none that can be read."""
    try:
        found = msgspec.json.decode((site / NAME).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return Manifest()
    return found if found.version == VERSION else Manifest()


def digest(*parts: object) -> str:
    """A short name for some values."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
