"""What can keep a hub from doing what it is asked to; each becomes an answer with its status and a sentence."""

import errno

from unspool.errors import UnspoolError

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of the system that mean a full disk."""


class HubError(UnspoolError):
    """Something is not done; the message is one sentence for whoever asked."""

    status = 500


class Forbidden(HubError):
    status = 403


class NotVisible(HubError):
    """Nothing is there that this person may know of; the same whether it exists or not."""

    status = 404


class Gone(HubError):
    status = 410


class BadRequest(HubError):
    status = 400


class PolicyViolation(HubError):
    """What was sent holds what policy keeps out; the message names rule and place, never the secret."""

    status = 422


class TooLarge(HubError):
    status = 413


class TooManyRequests(HubError):
    """A limit of this person is reached; `after` says when to come back, in seconds."""

    status = 429

    def __init__(self, message: str, after: int = 60) -> None:
        super().__init__(message)
        self.after = after


class Conflict(HubError):
    """A name is taken, or something else needs what is there as it is."""

    status = 409


class UnderLegalHold(HubError):
    status = 409


class StoreFull(HubError):
    """The store has no room; what was acknowledged before is safe."""

    status = 507


class StoreUnavailable(HubError):
    """The database or the object store does not answer now; nothing was changed."""

    status = 503
