"""The search files of a session and the index of a whole site, as scripts that a page can load."""

import re
import unicodedata
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import zstandard

from unspool.site.build.disk import write_if_changed
from unspool.site.search_records import RECORD_KINDS, SearchRecord

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACED: Final = re.compile(rf"[^\W_{_UNSPACED}]+")
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_PLAIN: Final = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
"""ASCII in lower case, with a space for all that is no part of a word."""
_ASCII: Final = bytes(range(128))
_FINAL_SIGMA: Final = "\N{GREEK SMALL LETTER FINAL SIGMA}"
_SIGMA: Final = "\N{GREEK SMALL LETTER SIGMA}"


def fold_text(text: str) -> str:
    """The text as it is compared."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text)
    return _without(filter(_is_mark, _beyond_ascii(text)), text).lower().replace(_FINAL_SIGMA, _SIGMA)


def _beyond_ascii(text: str) -> set[str]:
    """The characters of a text that are not ASCII; most of it is, which bytes are told by faster."""
    return set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


def _without(chars: Iterable[str], text: str) -> str:
    for char in chars:
        text = text.replace(char, "")
    return text


def split_words(text: str) -> set[str]:
    """The distinct words of a text, those of one ASCII character and long ones too."""
    if not text.isascii():
        others = _beyond_ascii(text)
        if not any(map(_is_letter, others)):  # but arrows, dashes, boxes, which are between words
            text = _without(filter(_is_mark, others), text)
        else:
            text = fold_text(text)
            if any(map(_is_letter, _beyond_ascii(text))):
                return _words_of_any(text)
    return set(text.encode("ascii", "replace").translate(_PLAIN).decode().split())


def _words_of_any(folded: str) -> set[str]:
    found = set(_SPACED.findall(folded))
    for run in _RUN.findall(folded):
        found.update(run[at : at + 2] for at in range(len(run)))
    return found


@cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


@cache
def _is_letter(char: str) -> bool:
    """Whether a character outside of ASCII is part of a word, as it stands or folded."""
    parts = () if char.isascii() else (char, *unicodedata.normalize("NFKD", char))
    return any(part.isalnum() or _RUN.match(part) is not None for part in parts)


CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz01234" + "56789!#$%()*+,-./:;=>?@[]^_{|}~"
BASE: Final = len(ALPHABET) // 2


@cache
def session_code(number: int) -> str:
    """Capital letters, at least one."""
    head, last = divmod(number, len(CAPITALS))
    return (session_code(head) if head else "") + CAPITALS[last]


@cache
def record_code(number: int) -> str:
    rest, digit = divmod(number, BASE)
    return ALPHABET[BASE + digit] + record_code(rest) if rest else ALPHABET[digit]


WORDS_FILE: Final = "records.words"
MAX_WORD: Final = 40
"""Characters of a word that are kept; the browser checks the rest on the record itself."""


class RecordsHead(msgspec.Struct, frozen=True):
    """What an index says of a session."""

    title: str
    started: int
    counts: tuple[int, ...]
    """Records of each kind, in the order of rank."""
    starts: tuple[int, ...]
    """Number of the first record of each part."""


def _pack_words(about: RecordsHead, ranked: list[SearchRecord]) -> bytes:
    """The words of the records, which are numbered as they come."""
    found = _postings(ranked)
    body = f"{' '.join(found)}\n{' '.join(found.values())}".encode()
    return msgspec.json.encode(about) + b"\n" + zstandard.ZstdCompressor(level=6).compress(body)


def read_postings(content: bytes, code: bytes = b"") -> Iterator[tuple[str, bytes]]:
    """Every word with its postings, each behind the code of their session."""
    body = zstandard.ZstdDecompressor().decompress(content[content.index(b"\n") + 1 :])
    names, numbers = body.split(b"\n")
    coded = (code + numbers.replace(b" ", b" " + code)).split(b" ")
    return zip(names.decode().split(" "), coded, strict=True) if names else iter(())


def _postings(ranked: list[SearchRecord]) -> dict[str, str]:
    found: dict[str, str] = {}
    get = found.get
    for number, record in enumerate(ranked):
        code = record_code(number)
        for word in split_words(record.text):
            held = get(word)
            found[word] = code if held is None else held + code
    for word in [word for word in found if len(word) > MAX_WORD]:
        numbers = found.pop(word)
        found[word[:MAX_WORD]] = get(word[:MAX_WORD], "") + numbers
    return {word: found[word] for word in sorted(found) if len(word) > 1 or not word.isascii()}


_ACTIVE: Final = ((b"<", b"\\u003c"), ("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))


def script_data(value: object) -> bytes:
    """JSON that is also JavaScript, and can stand inside a script element."""
    text = msgspec.json.encode(value)
    for active, escaped in _ACTIVE:
        text = text.replace(active, escaped)
    return text


def script_call(name: str, encoded: bytes) -> bytes:
    """The script that hands encoded data over under a name."""
    return b"unspoolShard(%b,%b)\n" % (script_data(name), encoded)


def _packed(value: object) -> bytes:
    """The JSON of a value, deflated, as a string of a script: text in little more than a third of the room."""
    return b'"%b"' % b64encode(zlib.compress(msgspec.json.encode(value), _LEVEL, -zlib.MAX_WBITS))


_LEVEL: Final = 5
"""At 50 MB a second; a level more takes a quarter more time for less than a hundredth of the room."""

RECORDS_SCRIPT: Final = "records.js"
PART_SIZE: Final = 48_000
"""Characters of text in one file: what a browser has to load to show one found record."""

_RANK: Final = {kind: at for at, kind in enumerate(RECORD_KINDS)}


def session_files(found: Iterable[SearchRecord]) -> Iterator[tuple[str, bytes]]:
    """The name and content of each search file of a session; its title is the record of that kind."""
    ranked = sorted(found, key=lambda record: _RANK[record.kind])
    starts, size = [0], 0
    for number, record in enumerate(ranked):
        size += len(record.text)
        if size > PART_SIZE and number > starts[-1]:
            starts.append(number)
            size = len(record.text)
    about = _about(ranked, starts)
    for number, (start, end) in enumerate(pairwise((*starts, len(ranked)))):
        value: dict[str, object] = {"records": _rows(ranked[start:end], about)}
        if number == 0:
            value = {"kinds": RECORD_KINDS, "about": about, **value}
        yield f"records-{number}.js" if number else RECORDS_SCRIPT, script_call(str(number), _packed(value))
    yield WORDS_FILE, _pack_words(about, ranked)


def inline_records(found: Iterable[SearchRecord]) -> str:
    """All records of a session as JSON for a script element of a page that has no files beside it."""
    ranked = sorted(found, key=lambda record: _RANK[record.kind])
    about = _about(ranked, [0])
    return script_data({"kinds": RECORD_KINDS, "about": about, "records": _rows(ranked, about)}).decode()


def _about(ranked: list[SearchRecord], starts: list[int]) -> RecordsHead:
    title = next((record for record in ranked if record.kind == "title"), SearchRecord("title", "", 0, ""))
    counts = Counter(record.kind for record in ranked)
    return RecordsHead(title.text, title.time, tuple(counts[kind] for kind in RECORD_KINDS), tuple(starts))


def _rows(records: list[SearchRecord], about: RecordsHead) -> list[tuple[str, int, str]]:
    """Link, seconds since the session's start, text."""
    return [(one.link, one.time - about.started if one.time else 0, one.text) for one in records]


SEARCH_FOLDER: Final = "search"
HEAD_SCRIPT: Final = "head.js"
SHARD_SIZE: Final = 64_000
"""Bytes after which a shard is full, before it is deflated."""

_TITLE: Final = 160


class SearchedSession(NamedTuple):
    """A session of the archive."""

    folder: str
    """Relative to the site's root, with slashes."""
    project: str


class SearchIndexWriter:
    """Puts together and writes the index of the sessions below a site's root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sessions: list[tuple[RecordsHead, SearchedSession]] = []

    def add(self, session: SearchedSession) -> bool:
        """Take in a session whose folder is in place; False where it has no words that can be read."""
        try:
            with (self._root / session.folder / WORDS_FILE).open("rb") as file:
                self._sessions.append((msgspec.json.decode(file.readline(), type=RecordsHead), session))
        except (OSError, msgspec.DecodeError):
            return False
        return True

    def write(self) -> int:
        """Write what changed and remove what is no longer used; gives the number of files written."""
        target = self._root / SEARCH_FOLDER
        target.mkdir(parents=True, exist_ok=True)
        self._sessions.sort(key=lambda session: (session[0].started, session[1].folder))
        shards: list[tuple[str, str]] = []
        written = 0
        for first, name, content in _shards(self._merged()):
            shards.append((first, name))
            if not (target / name).exists():  # it is called by its content
                written += write_if_changed(target / name, content)
        written += write_if_changed(target / HEAD_SCRIPT, script_call("head", script_data(self._head(shards))))
        used = {name for _, name in shards}
        for path in (*target.glob("w-*.js"), *target.glob("*.part")):
            if path.name not in used:
                path.unlink()
        return written

    def _merged(self) -> dict[str, bytes | bytearray]:
        """Every word of the archive with its postings, sessions ascending."""
        merged: dict[str, bytes | bytearray] = {}
        get = merged.get
        for number, (_, session) in enumerate(self._sessions):
            content = (self._root / session.folder / WORDS_FILE).read_bytes()
            for word, records in read_postings(content, session_code(number).encode()):
                held = get(word)
                if held is None:
                    merged[word] = records
                elif isinstance(held, bytearray):
                    held += records
                else:
                    merged[word] = bytearray(held + records)
        return merged

    def _head(self, shards: list[tuple[str, str]]) -> dict[str, object]:
        projects = {name: at for at, name in enumerate(sorted({session.project for _, session in self._sessions}))}
        rows = [
            (session.folder, one.title[:_TITLE], projects[session.project], one.started, one.counts, one.starts)
            for one, session in self._sessions
        ]
        return {"kinds": RECORD_KINDS, "projects": list(projects), "sessions": rows, "shards": shards}


def _shards(merged: dict[str, bytes | bytearray]) -> Iterator[tuple[str, str, bytes]]:
    """First word, name and content of runs of words, in the order in which a browser compares them, cut by size."""
    run: list[str] = []
    size = 0
    ordered = sorted(merged)
    if any(max(word) > "\uffff" for word in ordered if not word.isascii()):  # only these make another order
        ordered.sort(key=lambda word: word.encode("utf-16-be"))
    for number, word in enumerate(ordered, 1):
        size += len(word) + len(merged[word])
        run.append(word)
        if size > SHARD_SIZE or number == len(ordered):
            found = b" ".join([merged.pop(word) for word in run]).decode()
            value = _packed([" ".join(run), found])
            name = f"w-{blake2b(value, digest_size=8).hexdigest()}"
            yield run[0], f"{name}.js", script_call(name, value)
            run, size = [], 0
