"""A session made public, or shown to whoever has the address: looked through for secrets first."""

from pathlib import Path

import msgspec

from unspool.errors import UnspoolError
from unspool.figures import Figures
from unspool.library.scratch import scratch
from unspool.model import Session
from unspool.site.build.gist import Gist, fits, publish
from unspool.site.build.one import write_folder
from unspool.site.build.secrets import Finding, located, scanned
from unspool.site.options import SiteOptions

_LISTED = 20


def share(session: Session, counted: Figures, options: SiteOptions, *, allow: bool, public: bool) -> Gist:
    """Publish a session as a gist: on one page where that is not too large, else on several."""
    with scratch() as folder:
        one = msgspec.structs.replace(options, self_contained=True, single_page=True)
        files = _made(session, counted, one, folder / "one")
        if fits(files) and not options.single_page:
            several = msgspec.structs.replace(one, single_page=False)
            files = _made(session, counted, several, folder / "several")
        if unfit := fits(files):
            raise UnspoolError(f"This session is too large for a gist. {unfit} --hide tools,images makes it smaller.")
        if not allow:
            refuse_secrets(files, session.log.path)
        return publish(files, session.title[:200], public=public)


def _made(session: Session, counted: Figures, options: SiteOptions, folder: Path) -> list[Path]:
    write_folder(session, counted, options, folder)
    return sorted(folder.iterdir())


def refuse_secrets(files: list[Path], log: str) -> None:
    """UnspoolError that lists the secrets in the files, where there are any."""
    found = [finding for file in files for finding in scanned(file.name, file.read_text("utf-8"))]
    if not found:
        return
    listed = list(located(found, log, _bytes(log)))
    lines = [f"  {finding}" for finding in listed[:_LISTED]]
    more = [f"  … and {len(listed) - _LISTED} more"] if len(listed) > _LISTED else []
    raise UnspoolError(
        "\n".join(
            [
                f"Nothing was published: {_counted(listed)} found.",
                *lines,
                *more,
                "Take them out of the log, leave them out with --hide, or publish all the same with --allow-secrets.",
            ]
        )
    )


def _counted(listed: list[Finding]) -> str:
    return "1 secret was" if len(listed) == 1 else f"{len(listed)} secrets were"


def _bytes(log: str) -> bytes:
    try:
        return Path(log).read_bytes()
    except (OSError, ValueError):
        return b""
