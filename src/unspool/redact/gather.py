"""Every string of a value: those of objects with what their keys say of them, and the keys themselves."""

from typing import Any

from unspool.redact.match import Match
from unspool.redact.memory import VALUES, Memory, telling, telling_of
from unspool.redact.sweep import Path, Text

Json = Any
"""What JSON can hold: nothing, truth, number, text, list or object."""

_UNKNOWN = [Match("", "term", "", 0, 0)]


def gather(value: Json, path: Path, key: str, known: Memory, into: list[Text]) -> None:
    """Add the strings of a value, but those known to hold nothing, ids of lines, and what proves a thought."""
    kind = type(value)
    if kind is dict:
        _object(value, path, known, into)
    elif kind is list:
        for number, one in enumerate(value):
            gather(one, Path(path, number), key, known, into)
    elif kind is str:
        _add(value, path, key, known, into)


def _object(value: dict[str, Json], path: Path, known: Memory, into: list[Text]) -> None:
    tells = known.shape(tuple(value))
    if tells is None:
        into += [Text(path, "", name) for name in value if known.get(name, _UNKNOWN)]
        tells = telling_of(value)
    for name, one in value.items():
        if (kind := type(one)) is str:
            if name in tells:
                _add(one, Path(path, name), named(value, name), known, into)
            elif known.get(one, _UNKNOWN) and not known.is_id(one) and not is_proof(value, name):
                into.append(Text(Path(path, name), "", one))
        elif kind is dict or kind is list:
            gather(one, Path(path, name), name, known, into)


def named(owner: dict[str, Json], key: str) -> str:
    """What a text of an object is called: its key, or what stands beside a `value`, as in {"name": …, "value": …}."""
    if key not in VALUES:
        return key
    names = (owner.get(name) for name in ("name", "key", "Name", "Key"))
    return next((name for name in names if isinstance(name, str) and telling(name)), key)


def is_proof(owner: dict[str, Json], key: str) -> bool:
    """Whether a text is what the model's maker signed a thought with: random to all others, void if touched."""
    if key == "signature":
        return owner.get("type") == "thinking"
    return key == "data" and owner.get("type") == "redacted_thinking"


def _add(value: str, path: Path, key: str, known: Memory, into: list[Text]) -> None:
    text = Text(path, key if telling(key) else "", value)
    if known.get(text.whole if text.key else value, _UNKNOWN):
        into.append(text)
