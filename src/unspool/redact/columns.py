"""Secrets that the head of their column names: rows of CSV, of a table of Markdown or psql, of an INSERT of SQL."""

import re
from collections.abc import Iterable, Iterator

from unspool.redact.checks import is_password
from unspool.redact.letter_pairs import chance

_PASSWORDS = ("password", "passwd", "passphrase")
COLUMNS = (*_PASSWORDS, "_token", "_secret", "_key", "apikey", "_pass")
"""How names of columns end; those of keys say less, so that what is below them must be of chance."""
_ENDS = re.compile(rb"[\"'`* ]{0,40}(?:[,;|\t)\r\n]|\\{1,8}[nt])")
_NO_SECRET = re.compile(r"(?i)(?:public|primary|foreign|sort|partition|cache|idempotency|page|next|csrf)_\w*$")
_CHANCE = 16
"""Characters that a key has at least."""
_FAR = 400
"""Characters of a head on either side of the name."""
_WIDE = 2000
"""Characters of a row."""
_END = re.compile(r"\r?\n|\\{1,8}n|\0")
_FIELD = re.compile(r" *[\"'`*]{0,2}[A-Za-z][\w .-]{0,40}[\"'`*]{0,2} *")
_INSERT = re.compile(r"(?i)insert\s+into\s+[^\s(]{1,80}\s*\(([^()\0]{1,600})\)\s*values\s*")
_ROW = re.compile(r"\s*,?\s*\(((?:'(?:[^'\\\0]|\\.|''){0,2000}'|[^()'\0]){1,4000})\)")
_CELL = re.compile(r"\s*(?:'((?:[^'\\\0]|\\.|'')*)'|([^,'\0]*))\s*(?:,|\Z)")
_RULES = re.compile(r"[\s|:+-]*")


def column_passwords(text: str, low: bytes, places: Iterable[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Where each password or key stands; `low` is the text in small letters, `places` are those of names of columns."""
    done = dict.fromkeys(COLUMNS, 0)
    for name, place in places:
        if place < done[name] or not _ENDS.match(low, place + len(name)):
            continue
        is_secret = is_password if name in _PASSWORDS else _is_key
        for start, end, stop in (
            _rows(text, low, place) if not _NO_SECRET.search(text[max(0, place - 40) : place + 1]) else ()
        ):
            done[name] = stop
            if is_secret(text[start:end]):
                yield start, end


def _is_key(value: str) -> bool:
    return len(value) >= _CHANCE and " " not in value and is_password(value) and chance(value) >= 0.9 * len(value)


def _rows(text: str, low: bytes, place: int) -> Iterator[tuple[int, int, int]]:
    """The column's cell of each row: where it begins and ends, and where its row ends."""
    begin = low.rfind(b"insert into", max(0, place - _FAR), place)
    if begin >= 0 and (head := _INSERT.match(text, begin)) and head.start(1) <= place < head.end(1):
        return _inserted(text, head.end(), text.count(",", head.start(1), place))
    return _listed(text, place)


def _inserted(text: str, at: int, column: int) -> Iterator[tuple[int, int, int]]:
    while row := _ROW.match(text, at):
        at = row.end()
        cells = list(_CELL.finditer(text, row.start(1), row.end(1)))
        if column < len(cells):
            start, end = cells[column].span(1 if cells[column][1] is not None else 2)
            yield start, end, at


def _listed(text: str, place: int) -> Iterator[tuple[int, int, int]]:
    far = max(0, place - _FAR)
    first = max((match.end() for match in _END.finditer(text, far, place)), default=far)
    last = _END.search(text, place, place + _FAR)
    head = text[first : last.start()] if last and last[0] != "\0" else ""
    sign = next((sign for sign in ",;\t|" if sign in head), "")
    fields = head.split(sign) if sign else []
    named = fields[1:-1] if sign == "|" and not fields[0].strip() else fields
    if len(named) < 2 or not all(map(_FIELD.fullmatch, named)):
        return
    column, at = text.count(sign, first, place), last.end() if last else len(text)
    while at < len(text):
        row = _END.search(text, at, at + _WIDE)
        end, after = row.span() if row else (len(text), len(text))
        cells = text[at:end].split(sign) if end - at <= _WIDE else []
        if sign == "|" and _RULES.fullmatch(text, at, end) and end > at:  # psql draws `+` where columns meet
            cells = fields
        if len(cells) != len(fields):
            return
        start = at + sum(len(cell) + 1 for cell in cells[:column])
        inside = cells[column].strip(" \"'`*")
        if inside and cells is not fields and not _RULES.fullmatch(cells[column]):
            start += cells[column].index(inside)
            yield start, start + len(inside), after
        at = after if row and row[0] != "\0" else len(text)
