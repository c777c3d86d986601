"""What programs use of unspool beside reading sessions: documents, pages, an archive and its search.

Names and paths may be given as text or as `Path`. Whatever cannot be done raises an `UnspoolError`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unspool.errors import UsageProblem
from unspool.figures import figures
from unspool.model import Overview, Session
from unspool.prices import PriceTable
from unspool.render.view import View
from unspool.site.options import SiteOptions
from unspool.store.archive.database import archive_folder
from unspool.store.library import Library, open_session

if TYPE_CHECKING:
    from unspool.site.build.plan import BuildReport
    from unspool.store.archive.verify import VerifyResult
    from unspool.store.index.results import SearchResults
    from unspool.store.sync import SyncReport

HTML = "html"
_ALONE = SiteOptions(single_page=True, self_contained=True)


def render_session(session: Session | str | Path, form: str = "markdown", view: View | None = None) -> str:
    """A session as text in one of the forms that can be: `html` (one page that needs nothing else), `markdown`, `text`,
    `json`, `session-share`. `view` says what of it is shown, but for `html`, which shows all and folds.

    What is no text (PDF, Word) is written by `write_session`.
    """
    found = session if isinstance(session, Session) else open_session(session)
    if form == HTML:
        from unspool.site.page_template import Frame
        from unspool.site.turn_pages import session_pages

        (page,) = session_pages(found, figures(found, PriceTable.load()), _ALONE, Frame())
        return page.html
    from unspool.render.writers import find_writer

    writer = find_writer(form)
    if writer.binary:
        raise UsageProblem(f"{form} is no text; unspool.write_session writes it to a file.")
    return b"".join(writer.chunks(found, view or View())).decode("utf-8", "replace")


def write_session(session: Session | str | Path, path: str | Path, view: View | None = None) -> Path:
    """Write a session to a file, whole or not at all and private to the user; its ending says in which form: `.html`,
    `.md`, `.txt`, `.json`, `.pdf`, `.docx`. The file."""
    found = session if isinstance(session, Session) else open_session(session)
    target = Path(path)
    if target.suffix.lower() in (".html", ".htm"):
        from unspool.files import write_atomically

        write_atomically(target, [render_session(found, HTML).encode("utf-8", "replace")])
    else:
        from unspool.render.writers import find_writer
        from unspool.render.writers import write as write_document

        write_document(find_writer(target.name), found, target, view)
    return target


def write_site(folder: str | Path, sources: Sequence[str | Path] = (), jobs: int = 1) -> "BuildReport":
    """Make or bring up to date a site of all sessions of some folders, or of the agents' own; what was done.

    `jobs` processes make it. The program that asks for more than one guards its start by `if __name__ == "__main__"`.
    """
    from unspool.site.build.plan import BuildOptions, build_site

    return build_site(Library(sources).logs(), Path(folder), BuildOptions(jobs=jobs))


class Archive:
    """An archive of sessions with its index: everything is kept, found, opened and given back by it.

    `folder` is the person's own archive where none is named; `key` opens one that is encrypted.
    """

    def __init__(self, folder: str | Path | None = None, *, key: str | None = None) -> None:
        self.folder = archive_folder(Path(folder) if folder is not None else None)
        self._key = key

    def sync(self, sources: Sequence[str | Path] = ()) -> "SyncReport":
        """Keep what is new in some folders, or in the agents' own, and make it searchable; what was done."""
        from unspool.store.sync import sync

        return sync(self.folder, [Path(source) for source in sources], None, self._key)

    def search(self, question: str, limit: int = 10) -> "SearchResults":
        """What the command line's `search` finds in what is kept, by words, phrases and filters; the best first."""
        from unspool.store.archive import ArchiveDatabase
        from unspool.store.index.database import Index
        from unspool.store.index.query import parse_query
        from unspool.store.index.search import SearchRequest, search_index

        with (
            Index.open(self.folder, key=self._key, readonly=True) as index,
            ArchiveDatabase.open(self.folder, key=self._key, readonly=True) as kept,
        ):
            return search_index(index.db, kept, parse_query(question), SearchRequest(sessions=limit))

    def sessions(self) -> tuple[Overview, ...]:
        """An overview of every session that is kept or still in its place, newest first."""
        return self._library().overviews()

    def open_session(self, name: str | Path) -> Session:
        """One session, whole, though only the archive may have its log."""
        return self._library().open(name)

    def restore(self, name: str, to: str | Path) -> list[Path]:
        """Write the files of a session below a folder, byte for byte; those files."""
        from unspool.store.archive import ArchiveDatabase
        from unspool.store.archive.restore import RestoreOptions, restore
        from unspool.store.library.session_files import files_of_session

        with ArchiveDatabase.open(self.folder, key=self._key, readonly=True) as kept:
            _, files = files_of_session(kept, name)
            return [Path(one.path) for one in restore(kept, files, Path(to), RestoreOptions())]

    def verify(self) -> "VerifyResult":
        """Prove every byte; `clean` where nothing is wrong."""
        from unspool.store.archive.verify import verify_archive

        return verify_archive(self.folder, key=self._key)

    def _library(self) -> Library:
        from unspool.store.library.kept_sessions import KeptSessions

        return Library((), None, KeptSessions(self.folder, self._key))


def search(question: str, limit: int = 10) -> "SearchResults":
    """What is found in the person's own archive, as it was last synced."""
    return Archive().search(question, limit)
