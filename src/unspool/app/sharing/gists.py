"""A share published as a gist, by GitHub's own program, as the person who is logged in there."""

import shutil

from unspool.app.desk import Desk
from unspool.app.sharing.made import Result
from unspool.errors import UsageProblem
from unspool.share.gist import publish
from unspool.share.prepare import Share
from unspool.share.sealing import Secret

GIST = "gist"


def there() -> bool:
    """Whether the program that publishes it is there."""
    return shutil.which("gh") is not None


def published(key: str, share: Share, desk: Desk, secret: Secret | None, *, public: bool) -> Result:
    """Publish it: the two addresses that it has then. UsageProblem where only a secret was to open it."""
    if secret is not None:
        raise UsageProblem("A gist is not encrypted, so none was made: whoever has its address can read it.")
    gist = publish(share, desk.options, desk.prices, public=public)
    return Result(key, addresses=(("Gist", gist.address), ("As pages", gist.preview)))
