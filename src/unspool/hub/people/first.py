"""The first person of a hub, without whom nobody could let anybody in."""

from secrets import token_hex

from unspool.hub.people.roster import OWNER, Wish, added
from unspool.hub.people.tokens import Wish as TokenWish
from unspool.hub.people.tokens import made
from unspool.hub.store.database import Database


def owner(db: Database) -> str | None:
    """The token of the first admin, who is made where there is none; None ever after, in whichever process."""
    with db.transaction():
        db.alone("admins")
        if db.row("SELECT 1 FROM person WHERE admin = 1 AND ended IS NULL LIMIT 1") is not None:
            return None
        taken = db.row("SELECT 1 FROM person WHERE name = 'owner'") is not None
        person = added(db, Wish(f"owner {token_hex(2)}" if taken else "owner", OWNER, admin=True))
        return made(db, TokenWish(person, "the first start"))
