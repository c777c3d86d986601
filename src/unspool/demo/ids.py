"""Identifiers in the shapes Claude Code uses, drawn from a seed: the same calls give the same ids."""

import base64
import hashlib
from uuid import UUID

_LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Ids:
    """An endless, repeatable supply of ids."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def _bytes(self, length: int = 32) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}:{self._drawn}".encode()).digest(length)

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int.from_bytes(self._bytes(8)) % (high - low + 1)

    def uuid(self) -> str:
        """A version 4 UUID."""
        return str(UUID(bytes=self._bytes(16), version=4))

    def hexes(self, length: int) -> str:
        """Hexadecimal digits, as in agent and background task ids."""
        return self._bytes(length).hex()[:length]

    def message(self) -> str:
        """A message id of the API."""
        return f"msg_01{self._letters(22)}"

    def request(self) -> str:
        """A request id of the API."""
        return f"req_011C{self._letters(20)}"

    def tool(self) -> str:
        """A tool call id."""
        return f"toolu_01{self._letters(22)}"

    def signature(self) -> str:
        """What seals a thinking block: opaque base64."""
        return base64.b64encode(self._bytes(120)).decode("ascii")

    def _letters(self, length: int) -> str:
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in self._bytes(length))
