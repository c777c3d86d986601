"""What replaces a finding: names that tell only its kind, and pictures without metadata."""

import binascii
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["secret", "personal", "term"]
"""A secret opens something; personal data names somebody; a term is what the sharer chose."""


class SecretMatch(NamedTuple):
    """What was found in a text, and where."""

    rule: str
    """The id of the rule, such as `github-token`."""
    kind: Kind
    value: str
    """What stands there in plain, whatever its disguise; never shown or logged."""
    start: int
    end: int
    """The stretch of the text as given, disguise included, that must go."""


class SecretFinding(NamedTuple):
    """A match and the line of a log that holds it."""

    match: SecretMatch
    line: int
    path: str
    """Where in the line: message.content[0].text, toolUseResult.stdout, ..."""
    before: str
    after: str
    """Words around it, for a person to judge by; they hold no match themselves."""
    log: str = ""
    """Which log or other file of the session holds it, where there are several."""


def escape_surrogates(text: str) -> str:
    """The text, with halves of characters told as escapes: it can be written anywhere."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_MOST = 32_000_000
"""Characters that are remembered at once."""
_ENTRY = 64
"""Characters that each text counts for beside its own: very many short ones take room too."""
_WORTH = 100_000
"""Characters of a text that is too long to be remembered."""
_TELLING = re.compile(
    r"(?i)pass|pwd|psk|pw$|secret|token|key|cred|auth|salt|_pat$|cookie|(?:account|organization)_?uuid"
)
VALUES = frozenset({"value", "Value"})
"""Keys of texts that another text of the object names."""
_LONG = 60
"""A key longer than this names no secret."""
ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
)
"""The id of a line, or a time."""
_LENGTHS = frozenset({36, 24})


@lru_cache(10_000)
def is_telling_key(key: str) -> bool:
    """Whether a key says what its text is, as `password` does."""
    return bool(_TELLING.search(key)) and len(key) <= _LONG


def telling_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that tell what their texts are, or whose texts are told by another."""
    return tuple(key for key in keys if key in VALUES or is_telling_key(key))


class MatchMemory(dict[str, list[SecretMatch]]):
    """Texts and what was found in them, as many as fit; with `ids`, ids are known to hold nothing."""

    def __init__(self, *, ids: bool = False) -> None:
        super().__init__()
        self.ids = ids
        self._size = 0
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def is_id(self, text: str) -> bool:
        """Whether a text is nothing but the id of a line or a time, which no rule of ours would find anything in."""
        return self.ids and len(text) in _LENGTHS and ID.fullmatch(text) is not None

    def shape(self, keys: tuple[str, ...]) -> tuple[str, ...] | None:
        """The keys of an object that tell what their texts are; None where a key may hold something itself."""
        known = self._shapes.get(keys)
        if known is None and all(self.get(key) == [] for key in keys):
            known = self._shapes[keys] = telling_keys(keys)
            self._size += _ENTRY
        return known

    def remember(self, found: Mapping[str, list[SecretMatch]]) -> None:
        """Keep these too, for as long as there is room; then begin anew."""
        for text, matches in found.items():
            if len(text) < _WORTH:
                self._size += len(text) + _ENTRY
                self[text] = matches
        if self._size > _MOST:
            self.clear()
            self._shapes.clear()
            self._size = 0


_FORMS = {
    **dict.fromkeys(
        ("home", "home-folder", "user-name", "git-user", "git-author", "git-blame", "mail-name"), "user-{}"
    ),
    "email": "user-{}@example.invalid",
    **dict.fromkeys(("host-name", "host"), "host-{}"),
    "ipv4": "192.0.2.{}",
    "ipv6": "2001:db8::{}",
}
"""Rules whose values have a form worth keeping, and the form. All others are told by their rule alone."""
MOST = {"192.0.2.{}": 254, "2001:db8::{}": 9999}
"""How many names a form has."""


class ReplacementNames:
    """Names given in one share, and keyed digests of what they stand for: no value is remembered.

    With the same key and the `mapping` of before, the same values have the same names.
    """

    def __init__(self, mapping: Mapping[str, str] | None = None, key: bytes = b"") -> None:
        self._values = dict(mapping or {})
        """Name to digest."""
        self._key = key or secrets.token_bytes(32)
        self._names = {(_form_of(name), digest): name for name, digest in self._values.items()}
        self._counts: dict[str, int] = {}

    def of(self, match: SecretMatch) -> str:
        """The name for what was found."""
        form, digest = _FORMS.get(match.rule, ""), keyed_digest(self._key, match.value)
        name = self._names.get((form, digest)) or self._names.get(("", digest) if form in MOST else ("", ""))
        if name is None:
            name = self._free(form) or self._free(f"[redacted:{match.rule}-{{}}]")
            self._names[_form_of(name), digest] = name
            self._values[name] = digest
        return name

    def mapping(self) -> dict[str, str]:
        """The digest of what each name stands for; never to leave the sharer's machine."""
        return dict(self._values)

    def _free(self, form: str) -> str:
        """The next name of a form that stands for nothing yet; empty where there is none left."""
        counted = form.partition("@")[0]
        while form and self._counts.get(counted, 0) < MOST.get(form, 10**9):
            self._counts[counted] = self._counts.get(counted, 0) + 1
            name = form.format(self._counts[counted])
            if name not in self._values:
                return name
        return ""


def keyed_digest(key: bytes, value: str) -> str:
    """What tells a value again to whoever has the key, and nothing to others."""
    return hmac.digest(key, value.encode("utf-8", "surrogatepass"), "sha256").hex()


def _form_of(name: str) -> str:
    """The form that a name has; empty for one that is told by its rule."""
    return next((form for form in _FORMS.values() if re.fullmatch(re.escape(form).replace(r"\{\}", r"\d+"), name)), "")


_DATA = re.compile(r"data:image/[a-z+.-]{2,20};base64,")
_PNG_TOLD = {b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME"}
_WEBP_TOLD = {b"EXIF", b"XMP "}
_JPEG_KEPT = {0xE0, 0xE2, 0xEE}
"""Segments of applications that say how to read the pixels: JFIF, colour profile, Adobe."""


class BarePicture(NamedTuple):
    """A picture in base64, and what was taken from it."""

    text: str
    told: bytes


def strip_picture(text: str) -> BarePicture | None:
    """The picture that a text is, without what it tells; None where it is no picture, or a broken one."""
    if text[:1] not in PICTURES:
        return None
    start = found.end() if (found := _DATA.match(text)) else 0
    strip = next((strip for magic, strip in _KINDS if text.startswith(magic, start)), None)
    if strip is None:
        return None
    try:
        data = binascii.a2b_base64(text[start:], strict_mode=True)
        kept, told = strip(data)
    except (ValueError, IndexError):  # binascii.Error is a ValueError
        return None
    if not told:
        return BarePicture(text, b"")
    return BarePicture(text[:start] + binascii.b2a_base64(kept, newline=False).decode("ascii"), told)


def _parted(parts: Iterator[tuple[bool, bytes]]) -> tuple[bytes, bytes]:
    kept: list[bytes] = []
    told: list[bytes] = []
    for tells, part in parts:
        (told if tells else kept).append(part)
    return b"".join(kept), b"".join(told)


def _png(data: bytes) -> tuple[bytes, bytes]:
    def parts() -> Iterator[tuple[bool, bytes]]:
        yield False, data[:8]
        at, kind = 8, b""
        while at < len(data) and kind != b"IEND":
            kind = data[at + 4 : at + 8]
            end = at + 12 + int.from_bytes(data[at : at + 4], "big")
            if end > len(data):
                raise ValueError("a chunk ends after the file")
            yield kind in _PNG_TOLD, data[at:end]
            at = end
        yield True, data[at:]  # what follows the end is no pixels

    return _parted(parts())


def _jpeg(data: bytes) -> tuple[bytes, bytes]:
    def parts() -> Iterator[tuple[bool, bytes]]:
        yield False, data[:2]
        at = 2
        while data[at] == 0xFF and data[at + 1] != 0xDA:
            end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            if end > len(data) or end < at + 4:
                raise ValueError("a segment ends after the file")
            mark = data[at + 1]
            yield mark == 0xFE or (0xE0 <= mark <= 0xEF and mark not in _JPEG_KEPT), data[at:end]
            at = end
        yield False, data[at:]

    return _parted(parts())


def _webp(data: bytes) -> tuple[bytes, bytes]:
    if data[8:12] != b"WEBP":
        raise ValueError("no picture")

    def parts() -> Iterator[tuple[bool, bytes]]:
        at = 12
        while at < len(data):
            size = int.from_bytes(data[at + 4 : at + 8], "little")
            end = at + 8 + size + size % 2
            yield data[at : at + 4] in _WEBP_TOLD, data[at:end]
            at = end

    kept, told = _parted(parts())
    return b"RIFF" + (len(kept) + 4).to_bytes(4, "little") + b"WEBP" + kept, told


_KINDS: tuple[tuple[str, Callable[[bytes], tuple[bytes, bytes]]], ...] = (
    ("iVBORw0KGgo", _png),
    ("/9j/", _jpeg),
    ("UklGR", _webp),
)
"""How the base64 of each kind begins, and what bares it."""
PICTURES = frozenset({"d", *(magic[0] for magic, _ in _KINDS)})
"""What a picture begins with, or its address."""
