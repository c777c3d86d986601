"""How a form of `forms.toml` is written: literals, blanks and choices, to the keys and the pattern that find it."""

import re
from itertools import product

import msgspec

_LETTERS = "A-Za-z0-9"
CLASSES = {
    "an": _LETTERS,
    "anu": _LETTERS + "_",
    "url": _LETTERS + "_-",
    "urld": _LETTERS + "_.-",
    "b64": _LETTERS + "+/",
    "hex": "0-9a-f",
    "HEX": "0-9A-F",
    "dig": "0-9",
    "low": "a-z",
    "let": "A-Za-z",
    "ld": "a-z0-9",
    "up": "A-Z0-9",
    "b32": "A-Z2-7",
    "b32l": "a-z2-7",
    "b58": "1-9A-HJ-NP-Za-km-z",
    "bech": "ACDEFGHJKLMNPQRSTUVWXYZ023456789acdefghjklmnpqrstuvwxyz",
    "any": "!#-&(-\\[\\]-~",
}
"""The characters that a blank of each name may have, as in a class of a pattern."""
_NAMES = "|".join(sorted(CLASSES, key=len, reverse=True))
_PIECE = re.compile(rf"<({_NAMES})(\d+)(?:-(\d+)|(\+))?>|<(uuid)>|\(([^()<>]*)\)|([«»])|([^<(«»]+|[<(])")
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UUID_LENGTH = 36
_MOST = 2000
"""Characters of a blank of which only the least is said."""
_EDGE = f"(?![{_LETTERS}])"


class _Piece(msgspec.Struct, frozen=True):
    """A part of a form."""

    pattern: str
    literals: tuple[str, ...] = ()
    """What it may be, where that is written out."""
    length: int | None = None
    """How long it is, where that is certain."""
    example: str = ""


class SecretForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of secret by its forms; `forms.toml` says what each field means."""

    id: str
    about: str
    forms: tuple[str, ...]
    entropy: float = 2.8
    check: str = ""
    clean: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        """The fields of the rule that finds it."""
        pieces = [tuple(_pieces(form)) for form in self.forms]
        found = [_keys(parts) for parts in pieces]
        patterns = [_pattern(parts) for parts in pieces]
        return {
            "id": self.id,
            "kind": "secret",
            "about": self.about,
            "keys": tuple(dict.fromkeys(key for _, keys in found for key in keys)),
            "before": found[0][0] if len({before for before, _ in found}) == 1 else -1,
            "token": True,
            "pattern": f"(?:{'|'.join(patterns)})",
            "group": 1 if "»" in self.forms[0] else 0,
            "entropy": self.entropy,
            "check": self.check,
            "match": tuple("".join(part.example for part in parts) for parts in pieces),
            "clean": self.clean or (_filler(pieces[0]),),
        }


def _pieces(form: str) -> list[_Piece]:
    return [_piece(match) for match in _PIECE.finditer(form)]


def _piece(match: "re.Match[str]") -> _Piece:
    name, least, most, more, uuid, choices, mark, literal = match.groups()
    if uuid:
        return _Piece(_UUID, (), _UUID_LENGTH, "<hex8>-<hex4>-4<hex3>-a<hex3>-<hex12>")
    if name:
        last = int(most) if most else _MOST if more else int(least)
        length = None if most or more else int(least)
        return _Piece(f"[{CLASSES[name]}]{{{least},{last}}}", (), length, f"<{name}{least}>")
    if mark:
        return _Piece("(" if mark == "«" else ")", ("",), 0)
    if choices is not None:
        some = tuple(choices.split("|"))
        lengths = {len(choice) for choice in some}
        pattern = f"(?:{'|'.join(map(re.escape, some))})"
        return _Piece(pattern, some, lengths.pop() if len(lengths) == 1 else None, some[0])
    return _Piece(re.escape(literal), (literal,), len(literal), literal)


def _keys(parts: tuple[_Piece, ...]) -> tuple[int, list[str]]:
    """What a form begins with, or the longest literal in it and how many characters stand before that."""
    first = next((at for at, part in enumerate(parts) if not part.literals), len(parts))
    keys = ["".join(some).lower() for some in product(*(part.literals for part in parts[:first]))]
    if all(len(key) > 1 for key in keys):
        return 0, keys
    best = max(range(len(parts)), key=lambda at: max(map(len, parts[at].literals), default=0))
    before = [part.length for part in parts[:best]]
    return sum(length or 0 for length in before) if None not in before else -1, [
        literal.lower() for literal in parts[best].literals
    ]


def _pattern(parts: tuple[_Piece, ...]) -> str:
    base64 = CLASSES["b64"] in parts[-1].pattern or (parts[-1].pattern == ")" and CLASSES["b64"] in parts[-2].pattern)
    return "".join(part.pattern for part in parts) + ("={0,2}" if base64 else "") + _EDGE


def _filler(parts: tuple[_Piece, ...]) -> str:
    return re.sub(
        r"<[A-Za-z0-9]*?(\d{1,2})>", lambda blank: "x" * int(blank[1]), "".join(part.example for part in parts)
    )
