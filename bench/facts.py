"""How many of the secrets that ../shared/docs/secrets.md describes are found, by section: `python -m bench.facts`."""

import re
import string
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple
from uuid import UUID

from unspool.redact.finder import Finder
from unspool.redact.replacements import SecretMatch

SECRETS = Path("shared/docs/secrets.md")
"""Where the facts are, from the folder beside the repository."""
TRIES = 8
ENOUGH, COVERED = 7, 0.85
"""Of so many values, so many must be covered to this share."""
_AN = string.ascii_letters + string.digits
CLASSES = {
    "an": _AN,
    "anu": _AN + "_",
    "url": _AN + "_-",
    "urld": _AN + "_-.",
    "b64": _AN + "+/",
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
    "b58": "".join(sorted(set(_AN) - set("0OIl"))),
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "pw": _AN + "!#%^*_+=~",
    "any": "".join(sorted(set(string.printable) - set(string.whitespace) - set("\"'\\"))),
}
_NAMES = "|".join(sorted(CLASSES, key=len, reverse=True))
_CLASS = re.compile(rf"({_NAMES}|words|n255x) (\d+)(?:[–-](\d+)|(\+))?")
_BLANK = re.compile(rf"<(?:({_NAMES}|words|n255x)(\d+)|(uuid4|uuid|UUID))>")
_MORE = 40
"""Characters beyond "at least"."""


class Fact(NamedTuple):
    """A kind of the facts: how its values are made, and what of each must go."""

    section: str
    kind: str
    form: tuple[str, ...]
    """Literals, and classes as `an 36`, where `code` marks a literal; or one shape with blanks."""

    def made(self, random: Random) -> tuple[str, list[str]]:
        """A text, and the secrets in it."""
        marked = "".join(_part(part, random) for part in self.form)
        secrets = re.findall("«(.*?)»", marked, re.DOTALL)
        return marked.replace("«", "").replace("»", ""), secrets or [marked]


def facts(text: str) -> Iterator[Fact]:
    """Every kind of the sections that describe secrets, in order."""
    section = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            section = line[3:5].strip(". ")
        cells = [cell.strip().replace("\0", "|") for cell in line.replace("\\|", "\0").split("|")[1:-1]]
        if len(cells) < 3 or cells[0].startswith("---") or section not in "123456":
            continue
        if section == "1" and cells[0] != "kind":
            yield Fact(section, f"{cells[1]}: {cells[0]}", _parts(cells[2], cells[3], _suffix(cells[4])))
        elif section == "2" and cells[0] != "kind":
            name = cells[2].split(",")[0].split(" in ")[0].strip()
            yield Fact(section, f"{cells[1]}: {cells[0]}", (f"`{name}=«`", *_parts("", cells[3], ""), "`»`"))
        elif shape := next((cell for cell in cells if "«" in cell), ""):
            yield Fact(section, f"{cells[0]}: {shape}", (shape.strip("`").replace("\\n", "\n"),))


def _suffix(remarks: str) -> str:
    found = re.match(r"`[^`]*`", remarks)
    return found[0] if found else ""


def _parts(*cells: str) -> tuple[str, ...]:
    return tuple(part for cell in cells for part in re.split(r" · (?=`|\w)", cell) if part not in {"", "—", "-"})


def _part(part: str, random: Random) -> str:
    if found := re.fullmatch(r"`(.*)`", part, re.DOTALL):
        return found[1]
    if found := _CLASS.fullmatch(part):
        least = int(found[2])
        most = int(found[3]) if found[3] else least + (_MORE if found[4] else 0)
        return _some(found[1], random.randint(least, most), random)
    if part in {"uuid", "uuid4", "UUID"}:
        return _uuid(part, random)
    return _BLANK.sub(
        lambda blank: _some(blank[1], int(blank[2]), random) if blank[1] else _uuid(blank[3], random), part
    )


def _uuid(name: str, random: Random) -> str:
    made = str(UUID(bytes=random.randbytes(16), version=4))
    return made.upper() if name == "UUID" else made


def _some(name: str, length: int, random: Random) -> str:
    if name == "words":
        return " ".join("".join(random.choices(string.ascii_lowercase, k=random.randint(3, 8))) for _ in range(length))
    if name == "n255x":
        return ",".join(str(random.randrange(256)) for _ in range(length))
    return "".join(random.choices(CLASSES[name], k=length))


def found_share(fact: Fact, finder: Finder, seed: int = 1) -> int:
    """In how many of the tries all secrets of a kind are covered."""
    random = Random(f"{seed} {fact.kind}")
    return sum(_is_covered(finder, *fact.made(random), fact.section) for _ in range(TRIES))


def _is_covered(finder: Finder, text: str, secrets: list[str], section: str) -> bool:
    around = f"I ran it with {text} and it worked" if section == "1" else text
    matches = [match for match in finder.find(around) if match.kind == "secret"]
    return all(_covered(around, secret, matches) >= COVERED for secret in secrets)


def _covered(text: str, secret: str, matches: Iterable[SecretMatch]) -> float:
    start = text.find(secret)
    inside = sum(max(0, min(match.end, start + len(secret)) - max(match.start, start)) for match in matches)
    return inside / max(1, len(secret))


def main(arguments: list[str]) -> None:
    """Prints how many kinds of each section are found; with a number of a section, those that are not."""
    path = next((folder / SECRETS for folder in Path(__file__).parents if (folder / SECRETS).exists()), None)
    if path is None:
        print("There is no shared/docs/secrets.md beside this repository.")
        return
    finder = Finder()
    sections: dict[str, list[tuple[Fact, int]]] = {}
    for fact in facts(path.read_text("utf-8")):
        sections.setdefault(fact.section, []).append((fact, found_share(fact, finder)))
    for section, found in sections.items():
        whole = sum(count >= ENOUGH for _, count in found)
        part = sum(0 < count < ENOUGH for _, count in found)
        print(f"section {section}: {whole} of {len(found)} found ({whole / len(found):.1%}), {part} at times")
        if section in arguments:
            for fact, count in found:
                if count < ENOUGH:
                    print(f"    {count} of {TRIES}  {fact.kind}   e.g. {fact.made(Random(1))[0][:120]!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
