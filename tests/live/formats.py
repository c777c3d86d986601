"""Every type of line and every field that logs were seen to have, with the versions that wrote them, as a table.

    python -m tests.live.formats [CONFIG]

reads the logs of CONFIG, an agent's folder, and the real ones beside the checkout; without CONFIG it plays all
scenarios first. The table goes into docs/format.md, between its marks. It holds names and versions, nothing said.
"""

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.live.scenarios import SCENARIOS, play
from tests.live.stage import ROOT

PAGE = ROOT / "docs" / "format.md"
CORPUS = ROOT.parent / "shared" / "corpora" / "claude"
BEGIN, END = "<!-- made: fields -->", "<!-- end -->"
CONVERSATION = ("user", "assistant", "system", "attachment")
_NAME = re.compile(r"[A-Za-z_][\w-]{0,40}")

Version = tuple[int, ...]


class Seen:
    """The first and the last version that something was seen in."""

    def __init__(self) -> None:
        self.versions: set[Version] = set()

    def __str__(self) -> str:
        first, last = min(self.versions), max(self.versions)
        return _written(first) if first == last else f"{_written(first)} to {_written(last)}"


def _written(version: Version) -> str:
    return ".".join(map(str, version))


def _version(text: object) -> Version | None:
    return tuple(map(int, text.split("."))) if isinstance(text, str) and re.fullmatch(r"\d+(\.\d+)+", text) else None


Table = dict[str, dict[str, Seen]]
"""By type, by field; what is seen of a type itself stands under an empty name."""


def survey(folders: list[Path]) -> Table:
    """What the logs of some agents' folders hold."""
    table: Table = defaultdict(lambda: defaultdict(Seen))
    for folder in folders:
        for log in sorted(folder.glob("projects/**/*.jsonl")):
            for kind, fields, version in _lines(log):
                for name in ("", *fields):
                    table[kind][name].versions.add(version)
    return table


def _lines(log: Path) -> Iterator[tuple[str, list[str], Version]]:
    """Type, fields and version of each line; lines that name no version are of the one that wrote the line before."""
    version: Version | None = None
    for raw in log.read_bytes().splitlines():
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if not isinstance(line, dict) or not isinstance(line.get("type"), str):
            continue
        version = _version(line.get("version")) or version
        if version is not None and _NAME.fullmatch(line["type"]):
            yield _kind(line), [name for name in _fields(line) if _NAME.fullmatch(name)], version


def _kind(line: dict[str, Any]) -> str:
    held = line.get("attachment")
    inner = {"system": line.get("subtype"), "attachment": held.get("type") if isinstance(held, dict) else None}
    name = inner.get(line["type"])
    return f"{line['type']}/{name}" if isinstance(name, str) and _NAME.fullmatch(name) else str(line["type"])


def _fields(line: dict[str, Any]) -> Iterator[str]:
    yield from (name for name in line if name not in {"type", "subtype", "attachment"})
    if isinstance(held := line.get("attachment"), dict):
        yield from (name for name in held if name != "type")


def written(table: Table) -> str:
    """The table in Markdown: a row a type, versions in brackets where a field's are fewer than the type's."""
    common = _common(table)
    rows = [("type", "versions", "fields"), ("---", "---", "---")]
    rows.append((f"all of {', '.join(f'`{name}`' for name in CONVERSATION)}", "", _names(common, "")))
    for kind, fields in sorted(table.items()):
        own = {name: seen for name, seen in fields.items() if name and name not in common}
        rows.append((f"`{kind}`", str(fields[""]), _names(own, str(fields[""]))))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _common(table: Table) -> dict[str, Seen]:
    """Fields that lines of every type of the conversation may have."""
    by_type = {
        name: {field for kind, fields in table.items() if kind.split("/")[0] == name for field in fields if field}
        for name in CONVERSATION
    }
    shared = set.intersection(*by_type.values())
    found: dict[str, Seen] = {name: Seen() for name in sorted(shared)}
    for kind, fields in table.items():
        if kind.split("/")[0] in CONVERSATION:
            for name in shared & fields.keys():
                found[name].versions |= fields[name].versions
    return found


def _names(fields: dict[str, Seen], usual: str) -> str:
    return ", ".join(
        f"`{name}`" if str(seen) == usual else f"`{name}` ({seen})" for name, seen in sorted(fields.items())
    )


def filled(page: str, table: str) -> str:
    """The page with the table between its marks; a page without them gets them at its end."""
    if BEGIN not in page:
        page = f"{page.rstrip()}\n\n## Every type and field\n\n{BEGIN}\n{END}\n"
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END, 1)[1]}"


def main(given: list[str]) -> None:
    """Survey, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(given[0]) if given else Path(folder) / "config"
        if not given:
            for name, played in play(SCENARIOS, Path(folder)):
                sys.stderr.write(f"{name}: {len(played.sessions)} sessions\n")
        table = survey([config, CORPUS])
    PAGE.write_text(filled(PAGE.read_text("utf-8"), written(table)), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
