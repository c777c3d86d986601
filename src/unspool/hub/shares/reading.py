"""A bundle that somebody sent: unpacked as `unspool import` does, judged at the door, read by the ordinary reader."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import msgspec

from unspool.clone.bundle import unpack
from unspool.errors import UnspoolError
from unspool.hub.policy import Policy, is_packed, refused, said
from unspool.hub.trouble import Full, HubError, Unfit, Unwanted
from unspool.library import Library
from unspool.library.scratch import scratch
from unspool.share.choices import Choices
from unspool.share.draw import Gone
from unspool.share.prepare import Share, Shared, around, placeless
from unspool.share.report import Report

_REPORT, _REPORT_MOST = "report.json", 1024 * 1024
_WORDS = 500


@contextmanager
def share_of(bundle: Path, title: str, policy: Policy | None) -> Iterator[Share]:
    """What a bundle shares; HubError says why not, in words that name nothing of this machine.

    `title` is shown in place of the session's own; with no policy nothing is kept out.
    """
    with scratch() as root, _told(root):
        logs = unpack(bundle, root, "The bundle")
        files = sorted(path for path in root.rglob("*") if path.is_file())
        if any(is_packed(path.name, path) for path in files):
            raise Unfit("A log in the bundle is packed once more; send plain lines.")
        found = refused(((_name(path, root, logs), path) for path in files), policy) if policy is not None else []
        if found:
            raise Unwanted(said(found))
        yield _share(logs, title, _report(root / "bundle" / _REPORT))


def _name(path: Path, root: Path, logs: list[Path]) -> str:
    """The name of a file, as the bundle has it or nearly so."""
    if path == logs[0]:
        return "session.jsonl"
    parts = path.relative_to(root).parts
    return PurePosixPath(*(parts[2:] if parts[0] == "projects" else parts[1:])).as_posix()


def _share(logs: list[Path], title: str, report: Report) -> Share:
    library = Library((logs[0].parents[1],))
    main, *others = (_read(library, log) for log in logs)
    if title:
        titles = msgspec.structs.replace(main.session.titles, custom=title)
        main = main._replace(session=msgspec.structs.replace(main.session, titles=titles))
    before, after = around(main, others)
    return Share(main, before, after, report, Choices(), {}, "")


def _read(library: Library, log: Path) -> Shared:
    session = placeless(library.open(log))
    if not session.turns and not session.messages:
        raise Unfit("The bundle holds no session that can be read.")
    return Shared(msgspec.structs.replace(session, project=session.cwd), log)


def _report(path: Path) -> Report:
    """What the bundle says of how it was made; nothing where it does not say."""
    nothing = Report("", "", [], Gone())
    if not path.is_file() or path.stat().st_size > _REPORT_MOST:
        return nothing
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return nothing


@contextmanager
def _told(root: Path) -> Iterator[None]:
    """Trouble of ours in words for whoever sent it: short, inert, and with no place of this machine."""
    try:
        yield
    except HubError:
        raise
    except UnspoolError as error:
        if any(os.strerror(code) in str(error) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)):
            raise Full("The hub has no room to unpack this now.") from None
        said = str(error).replace(str(root / "bundle"), "").replace(str(root), "")
        raise Unfit("".join(one if one.isprintable() else "?" for one in said)[:_WORDS]) from None
