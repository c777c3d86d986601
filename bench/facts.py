"""Recall by section on the facts of shared/docs/secrets.md, and which of its placeholders are flagged.

python -m bench.facts [--missed]    where that file is beside the repository; says so where it is not
"""

import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from unspool.redact.finder import Finder

FACTS = Path(__file__).parents[2] / "shared" / "docs" / "secrets.md"
TRIES = 8
_ALNUM = string.ascii_letters + string.digits
_CLASSES = {
    "an": _ALNUM,
    "anu": _ALNUM + "_",
    "url": _ALNUM + "_-",
    "urld": _ALNUM + "_-.",
    "b64": _ALNUM + "+/",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "low": string.ascii_lowercase,
    "up": string.ascii_uppercase,
    "let": string.ascii_letters,
    "ld": string.ascii_lowercase + string.digits,
    "ud": string.ascii_uppercase + string.digits,
    "b32": string.ascii_lowercase + "234567",
    "B32": string.ascii_uppercase + "234567",
    "b36": string.ascii_lowercase + string.digits,
    "b58": "".join(sorted(set(_ALNUM) - set("0OIl"))),
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "pw": _ALNUM + "!#%^*_+=~",
    "any": _ALNUM + "!#$%&()*+,-./:;<=>?@[]^_{|}~",
}
_BLANK = re.compile(r"<(uuid4?|UUID|words|n255x|[A-Za-z]+?(?:64|32|36|58)?)(\d*)>")
_NAMED_CLASS = re.compile(r"(uuid4?|UUID)|([A-Za-z]+[0-9]{0,2}) (\d+)(?:–(\d+))?(\+)?")
_WORDS = ("harbour", "crane", "tern", "vessel", "anchor", "copper", "lantern", "meadow", "orbit", "pencil", "quartz")


class Fact(NamedTuple):
    """A text that holds a secret between « and »."""

    section: int
    row: str
    text: str


def _some(letters: str, count: int, random: Random) -> str:
    if letters.lower().startswith("uuid"):
        digits = "".join(random.choices(_CLASSES["hex"], k=32))
        made = "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))
        return made.upper() if letters == "UUID" else made
    if letters == "words":
        return " ".join(random.choices(_WORDS, k=count))
    if letters == "n255x":
        return ",".join(str(random.randrange(256)) for _ in range(count))
    return "".join(random.choices(_CLASSES[letters], k=count))


def _blank(match: "re.Match[str]", random: Random) -> str:
    """`<b6440>` is 40 characters of base64: the class is the longest that there is."""
    whole = match[1] + match[2]
    for letters in sorted((*_CLASSES, "uuid4", "uuid", "UUID", "words", "n255x"), key=len, reverse=True):
        rest = whole.removeprefix(letters)
        if rest != whole and (rest.isdigit() or not rest):
            return _some(letters, int(rest or 1), random)
    return match[0]


def filled(shape: str, random: Random) -> str:
    """A shape with its blanks filled."""
    return _BLANK.sub(lambda match: _blank(match, random), shape)


def _value(form: str, random: Random) -> str:
    """A form of section 2, such as b64 43 · `=`."""
    parts = []
    for part in map(str.strip, form.split(" · ")):
        if part.startswith("`"):
            parts.append(part.strip("`"))
        elif (found := _NAMED_CLASS.match(part)) and (found[1] or found[2] in _CLASSES):
            parts.append(_some(found[1] or found[2], int(found[3] or 1), random))
        else:
            return ""
    return "".join(parts)


def _rows(number: int) -> Iterator[list[str]]:
    text = FACTS.read_text("utf-8")
    section = re.search(rf"\n## {number}\. .*?(?=\n## |\Z)", text, re.DOTALL)
    for line in (section[0] if section else "").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) > 2 and not set(cells[0]) <= set("-") and cells[1] not in {"shape", "what it is", "vendor"}:
            yield [cell.replace("\\|", "|") for cell in cells]


def facts(random: Random) -> Iterator[Fact]:
    """One example of every fact of sections 2 to 6."""
    for cells in _rows(2):
        name = re.match(r"[\w.:/-]+", cells[2].split(",")[0].split(" in ")[0].strip())
        value = _value(cells[3], random)
        if name and value:
            yield Fact(2, f"{name[0]} {cells[3]}", f"{name[0]}=«{value}»")
            yield Fact(2, f"{name[0]} {cells[3]} json", f'"{name[0]}": "«{value}»"')
    for number in (3, 4, 5, 6):
        for cells in _rows(number):
            shape = cells[1].strip("`").replace("\\n", "\n").replace("\\t", "\t").replace("\u02cb", "`")
            if "«" in shape:
                yield Fact(number, f"{cells[0]}: {cells[1]}", filled(shape, random))


def placeholders() -> Iterator[tuple[str, str]]:
    """Each placeholder of section 7 in each of six surroundings."""
    for cells in _rows(7):
        value = cells[0].removeprefix("`").removesuffix("`").replace("\u02cb", "`")
        yield value, f'api_key = "{value}"'
        yield value, f"API_KEY={value}"
        yield value, f"password: {value}"
        yield value, f"we saw {value} there"
        yield value, f"postgres://ada:{value}@db.shop.net/x"
        yield value, f"Authorization: Bearer {value}"


def is_found(fact: Fact, finder: Finder) -> bool:
    """Whether at least 85 % of each secret is covered."""
    text, secrets, at = "", [], 0
    for number, part in enumerate(re.split("[«»]", fact.text)):
        if number % 2:
            secrets.append((at, at + len(part)))
        text, at = text + part, at + len(part)
    covered = {
        place for match in finder.find(text) if match.kind == "secret" for place in range(match.start, match.end)
    }
    return all(len(covered & set(range(start, end))) >= 0.85 * (end - start) for start, end in secrets)


def recall(finder: Finder) -> Iterator[tuple[int, dict[str, int]]]:
    """For each section how often each of its rows was found, of so many tries."""
    hits: dict[tuple[int, str], int] = {}
    for seed in range(TRIES):
        for fact in facts(Random(seed)):
            hits[fact.section, fact.row] = hits.get((fact.section, fact.row), 0) + is_found(fact, finder)
    for section in (2, 3, 4, 5, 6):
        yield section, {row: count for (number, row), count in hits.items() if number == section}


def main(missed: bool) -> None:
    """Tell all of it."""
    finder = Finder()
    for section, rows in recall(finder):
        whole = sum(count >= TRIES - 1 for count in rows.values())
        values = sum(rows.values()) / TRIES / len(rows)
        print(f"section {section}: {values:.1%} of values, {whole} of {len(rows)} rows")
        print(*(f"   {count} {row}" for row, count in rows.items() if missed and count < TRIES - 1), sep="\n", end="")
    found = [(value, text) for value, text in placeholders() if any(one.kind == "secret" for one in finder.find(text))]
    print(f"section 7: {len({value for value, _ in found})} placeholders flagged")
    print(*(f"   {text}" for _, text in found if missed), sep="\n", end="")


if __name__ == "__main__":
    if FACTS.exists():
        main("--missed" in sys.argv)
    else:
        print("The facts are not here: nothing to measure.")
