"""What the sources have and the archive has not."""

from collections.abc import Iterator, Sequence

from unspool import human
from unspool.formats.traces import Belonging
from unspool.sync.finding import Finding
from unspool.sync.scene import DAY, Scene

NAME = "keeping"


def keeping(scene: Scene) -> Iterator[Finding]:
    """Files that are not kept at all, and those that changed since."""
    if scene.holding is None or scene.holding.trouble:
        return
    known = [one for one in scene.belongings if scene.kept(one) is not None]
    new = [one for one in scene.belongings if scene.kept(one) is None]
    changed = [one for one in known if not scene.is_kept(one)]
    if new:
        yield _lacking(scene, new, "not kept yet")
    if changed:
        yield _lacking(scene, changed, "kept only as they were before: they changed since")
    if known and not new and not changed:
        size = human.size(sum(one.size for one in known))
        yield Finding("ok", NAME, f"All is kept: {human.count(len(known), 'file')}, {size}.")


def _lacking(scene: Scene, files: Sequence[Belonging], what: str) -> Finding:
    """What is written right now is always ahead of the archive; what has lain for a day should not be."""
    late = any(one.modified < scene.now - DAY for one in files)
    sessions = len({one.session_id for one in files if one.session_id})
    of = f" of {human.count(sessions, 'session')}" if sessions else ""
    size = human.size(sum(one.size for one in files))
    message = f"{human.count(len(files), 'file')}{of} ({size}) {'is' if len(files) == 1 else 'are'} {what}."
    return Finding("warn" if late else "note", NAME, message, tuple(one.path for one in files), "unspool sync")
