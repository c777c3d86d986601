"""The chores of a hub."""

from starlette.datastructures import State

from unspool.hub.chores import Chore, Chores
from unspool.hub.hub import Hub
from unspool.hub.people.audit import seal
from unspool.hub.people.erase import resumed
from unspool.hub.people.pace import tidied
from unspool.hub.sessions.texts import swept
from unspool.hub.shares.expiry import expire
from unspool.hub.store.tidy import daily


def chores(hub: Hub, state: State) -> tuple[Chores, Chores]:
    """What a hub does by itself: what is quick, and beside it what takes long and can be broken off anywhere."""
    quick = Chores(
        (
            Chore("audit", 0.2, state.reads.flush),
            Chore("pace", 5.0, state.pace.flush),
            Chore("seal", 5.0, lambda: seal(hub.store.db)),
            Chore("passages", 2.0, lambda: swept(hub.store.db)),
            Chore("expiry", 60.0, lambda: expire(hub.store)),
            Chore("erase", 60.0, lambda: resumed(hub.store)),
            Chore("pace.old", 3600.0, lambda: tidied(hub.store.db)),
        )
    )
    return quick, Chores((Chore("tidy", 600.0, lambda: daily(hub.store), last=False),))
