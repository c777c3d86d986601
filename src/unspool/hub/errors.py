"""What can keep a hub from doing what it is asked to; each becomes an answer with a status and a sentence.

HubError            an answer of its own status
├── Refused     403 the person may not
├── Hidden      404 nothing that this person may know of
├── Gone        410 it was there, and its owner or its time ended it
├── Unfit       400 what was sent is not what it should be
├── Unwanted    422 policy refuses what was sent, and says by which rule
├── TooLarge    413 more than may be sent
├── TooMuch     429 more than this person may do, in an hour or in all
├── Conflict    409 it is taken, or something else needs it as it is
├── Held        409 a legal hold is on it
├── Full        507 no room in the store
└── Trouble     503 the database or the object store does not answer; to be tried again
"""

from unspool.errors import UnspoolError


class HubError(UnspoolError):
    """Something is not done; the message is one sentence for whoever asked."""

    status = 500


class Forbidden(HubError):
    """The person is known and may not do this."""

    status = 403


class NotVisible(HubError):
    """Nothing is there that this person may know of; the same whether it exists or not."""

    status = 404


class Gone(HubError):
    status = 410


class BadRequest(HubError):
    """What was sent is not what it should be."""

    status = 400


class PolicyViolation(HubError):
    """What was sent holds what policy keeps out; the message names rule and place, never the secret."""

    status = 422


class TooLarge(HubError):
    """More was sent, or announced, than may be."""

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
    """A legal hold is on it: it can be neither changed nor removed."""

    status = 409


class StoreFull(HubError):
    """The store has no room; what was acknowledged before is safe."""

    status = 507


class StoreUnavailable(HubError):
    """The database or the object store does not answer now; nothing was changed."""

    status = 503
