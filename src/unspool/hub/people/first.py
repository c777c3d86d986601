"""The first person of a hub, without whom nobody could let anybody in."""

from unspool.hub.people.roster import OWNER, Wish, added
from unspool.hub.people.tokens import Wish as TokenWish
from unspool.hub.people.tokens import made
from unspool.hub.store.database import Database


def owner(db: Database) -> str | None:
    """The token of the first admin, who is made where there is nobody yet; None ever after, in whichever process."""
    with db.transaction():
        db.alone("admins")
        if db.row("SELECT 1 FROM person LIMIT 1") is not None:
            return None
        person = added(db, Wish("owner", OWNER, admin=True))
        return made(db, TokenWish(person, "the first start"))
