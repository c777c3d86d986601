"""A hub moved from one place to another: from a folder to servers, or back."""

from unspool.errors import Exists, Unsound
from unspool.hub.store.copying import Copied, Told, begun, copied, finished
from unspool.hub.store.opening import Store
from unspool.hub.store.tables import empty, sums


def move(source: Store, target: Store, told: Told) -> Copied:
    """Copy all of a hub that nobody writes to into an empty place; the source stays as it is.

    Exists where the target holds a hub already, Unsound where the source was written to meanwhile: then the target is
    no hub yet, and the same move can be begun again, as after every other way of breaking off.
    """
    if not empty(target.db) and not begun(target.db):
        if sums(source.db) == sums(target.db):  # it was moved before
            return Copied(sums(target.db), 0, [])
        raise Exists("There is a hub already where this one should go.")
    result = copied(source, target, told, mark=True)
    if sums(source.db) != result.sums:
        raise Unsound("The hub was written to while it was moved: stop it, and begin again.")
    finished(target)
    return result
