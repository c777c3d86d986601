"""The written index read back in Python: sessions, words, postings and parts."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from unspool.site.search_files import ALPHABET, BASE, CAPITALS


def shard(path: Path) -> Any:
    """The data that a script hands over."""
    name, _, data = path.read_text("utf-8").removeprefix("unspoolShard(").rstrip().removesuffix(")").partition(",")
    assert json.loads(name)
    value = json.loads(data)
    if isinstance(value, str):
        value = json.loads(zlib.decompress(base64.b64decode(value), -zlib.MAX_WBITS))
    return value


def numbers(postings: str) -> list[tuple[int, int]]:
    """(session, record) of each posting."""
    found: list[tuple[int, int]] = []
    session = number = 0
    place, capital = 1, False
    for char in postings:
        if char in CAPITALS:
            session = (session * 26 if capital else 0) + CAPITALS.index(char)
            capital = True
            continue
        capital = False
        digit = ALPHABET.index(char)
        number += digit % BASE * place
        place *= BASE
        if digit < BASE:
            found.append((session, number))
            number, place = 0, 1
    return found


def index(site: Path) -> dict[str, list[tuple[str, int]]]:
    """Every word of an archive with the folder and number of its records."""
    head = shard(site / "search/head.js")
    folders = [row[0] for row in head["sessions"]]
    found: dict[str, list[tuple[str, int]]] = {}
    for first, name in head["shards"]:
        words, postings = shard(site / "search" / name)
        assert words.split(" ")[0] == first
        for word, codes in zip(words.split(" "), postings.split(" "), strict=True):
            assert word not in found
            found[word] = [(folders[session], number) for session, number in numbers(codes)]
    return found


def record(site: Path, folder: str, number: int) -> tuple[str, int, str]:
    """Link, seconds and text of a session's record."""
    starts = shard(site / folder / "records.js")["about"]["starts"]
    part = max(at for at, start in enumerate(starts) if start <= number)
    rows = shard(site / folder / (f"records-{part}.js" if part else "records.js"))["records"]
    link, seconds, text = rows[number - starts[part]]
    return link, seconds, text
