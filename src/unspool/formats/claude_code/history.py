"""history.jsonl: every prompt that was typed, kept when the logs are not."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.formats.claude_code.project import project
from unspool.formats.claude_code.small import regular
from unspool.formats.claude_code.values import mapping, moment, text
from unspool.formats.lines import Cursor, Lines
from unspool.formats.traces import Remembered
from unspool.model import Entry, Facts, Json

NAME = "history.jsonl"
_LARGEST = 2 * 1024**3
_LARGEST_PASTE = 4 * 1024 * 1024
_MOST_FOLDERS = 2_000
_HASH = re.compile(r"[0-9a-f]{8,128}")
_OTHER = re.compile(r"[^A-Za-z0-9]")
_LONGEST_NAME = 200
_QUIT = {"exit", "quit", ":q", ":q!", ":wq", ":wq!"}


class History:
    """The list of prompts below one agent's folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._projects: dict[str, str] = {"": ""}

    def prompts(self) -> Iterator[Remembered]:
        """Every prompt in the order of the file; torn and glued lines as far as they can be read."""
        path = self._root / NAME
        if not regular(path, _LARGEST):
            return
        try:
            with path.open("rb") as stream:
                for entry in Lines(msgspec.json.Decoder()).entries(stream, Cursor()):
                    prompt = self._prompt(entry)
                    if prompt.text:
                        yield prompt
        except OSError:
            return

    def folders(self) -> list[str]:
        """The folders that the agent was started in, as far as they are told and bounded in number; each once."""
        for _ in self.prompts():
            if len(self._projects) > _MOST_FOLDERS:
                break
        return [folder for folder in self._projects if folder]

    def _prompt(self, entry: Entry) -> Remembered:
        data = mapping(entry.data)
        typed = text(data.get("display")).strip()
        pasted = [self._pasted(paste) for paste in mapping(data.get("pastedContents")).values()]
        return Remembered(
            "\n\n".join(part for part in (typed, *pasted) if part),
            moment(data.get("timestamp")),
            self._project(text(data.get("project"))),
            text(data.get("sessionId")),
            entry.place.offset,
            typed.startswith("/") or typed.lower() in _QUIT,
            _log(text(data.get("project")), text(data.get("sessionId"))),
        )

    def _pasted(self, paste: Json) -> str:
        """What was pasted: in the list itself, or in a file of its own as long as that is kept."""
        held = mapping(paste)
        name = text(held.get("contentHash"))
        if text(held.get("content")) or not _HASH.fullmatch(name):
            return text(held.get("content"))
        path = self._root / "paste-cache" / f"{name}.txt"
        try:
            return path.read_bytes().decode(errors="replace") if regular(path, _LARGEST_PASTE) else ""
        except OSError:
            return ""

    def _project(self, cwd: str) -> str:
        """The project of a folder, as for a session that worked in it."""
        if cwd not in self._projects:
            self._projects[cwd] = project(Facts(cwd=cwd), "")
        return self._projects[cwd]


def _log(cwd: str, session: str) -> str:
    """The usual path of a log; a longer name is cut and gets a hash that differs from version to version."""
    folder = _OTHER.sub("-", cwd)
    return f"projects/{folder}/{session}.jsonl" if session and 0 < len(folder) <= _LONGEST_NAME else ""
