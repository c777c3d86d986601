"""What replaces what must not leave, the same in every push: named by a digest that only this machine can make."""

import secrets
from collections import Counter
from hashlib import blake2b
from pathlib import Path

from unspool.files import write_atomically
from unspool.redact.match import Match
from unspool.redact.names import MOST, Names

_KEY = 32
_NUMBERS = 10**9
_FILE = "key"


class KeyedNames(Names):
    """Names that depend on what they replace and on a key, and not on what was replaced before."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key, self._number = key, 0
        self.places: Counter[tuple[str, str]] = Counter()
        """How often something was replaced, by kind and rule."""

    def of(self, match: Match) -> str:
        """The name for what was found."""
        self.places[match.kind, match.rule] += 1
        value = match.value.encode("utf-8", "surrogatepass")
        self._number = int.from_bytes(blake2b(value, key=self._key, digest_size=8).digest())
        return super().of(match)

    def _free(self, form: str) -> str:
        """The name that a value has by its digest; empty where a form of few names has given it to another."""
        few = MOST.get(form)
        number = self._number
        while form:
            name = form.format(number % (few or _NUMBERS) + 1)
            if name not in self._values:
                return name
            if few:
                return ""
            number += 1
        return ""


def key(folder: Path) -> bytes:
    """This machine's key, made when it is first asked for; for its user's eyes alone."""
    path = folder / _FILE
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = b""
    if len(found) != _KEY:
        found = secrets.token_bytes(_KEY)
        write_atomically(path, [found])
        found = path.read_bytes()  # another process may have been as quick
    return found
