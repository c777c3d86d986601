"""history.jsonl: every prompt that was typed, kept when the logs are not."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from unspool.agents.claude_code.discover import project_path
from unspool.agents.lines import read_entries
from unspool.agents.records import PromptMention, TypedPrompt
from unspool.agents.values import is_small_file, mapping, moment, text
from unspool.model import Entry, Facts, Json

NAME = "history.jsonl"
_LARGEST = 2 * 1024**3
_LARGEST_PASTE = 4 * 1024 * 1024
_MOST_FOLDERS = 2_000
_HASH = re.compile(r"[0-9a-f]{8,128}")
_SESSIONS = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_PASTES = re.compile(rb'"contentHash"\s*:\s*"([0-9a-f]{8,128})"')
_OTHER = re.compile(r"[^A-Za-z0-9]")
_LONGEST_NAME = 200
_QUIT = {"exit", "quit", ":q", ":q!", ":wq", ":wq!"}


class History:
    """The list of prompts below one agent's folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prompts = PromptLines(self._pasted)

    def prompts(self) -> Iterator[TypedPrompt]:
        """Every prompt in the order of the file; torn and glued lines as far as they can be read."""
        path = self._root / NAME
        if not is_small_file(path, _LARGEST):
            return
        try:
            with path.open("rb") as stream:
                yield from prompts_of_lines(stream, self._prompts)
        except OSError:
            return

    def folders(self) -> list[str]:
        """The folders that the agent was started in, as far as they are told and bounded in number; each once."""
        for _ in self.prompts():
            if len(self._prompts.projects) > _MOST_FOLDERS:
                break
        return [folder for folder in self._prompts.projects if folder]

    def _pasted(self, name: str) -> bytes | None:
        path = self._root / name
        try:
            return path.read_bytes() if is_small_file(path, _LARGEST_PASTE) else None
        except OSError:
            return None


def prompts_of_lines(lines: Iterable[bytes], prompts: "PromptLines") -> Iterator[TypedPrompt]:
    """The prompts of a list, by its lines."""
    for entry in read_entries(lines):
        prompt = prompts.prompt(entry)
        if prompt.text:
            yield prompt


class PromptLines:
    """Understands lines; `pasted` gives a file's content, and is not asked for prompts of `known` sessions."""

    def __init__(self, pasted: Callable[[str], bytes | None], known: Collection[str] = ()) -> None:
        self._look, self._known = pasted, known
        self.projects: dict[str, str] = {"": ""}
        """The project of each folder that was named."""

    def prompt(self, entry: Entry) -> TypedPrompt:
        """The prompt of a line; without text where it holds none."""
        data = mapping(entry.data)
        typed = text(data.get("display")).strip()
        pastes = {} if text(data.get("sessionId")) in self._known else mapping(data.get("pastedContents"))
        pasted = [self._pasted(paste) for paste in pastes.values()]
        return TypedPrompt(
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
        return (self._look(_paste(name)) or b"").decode(errors="replace")

    def _project(self, cwd: str) -> str:
        """The project of a folder, as for a session that worked in it."""
        if cwd not in self.projects:
            self.projects[cwd] = project_path(Facts(cwd=cwd), "")
        return self.projects[cwd]


def mention_in_line(line: bytes) -> PromptMention:
    """What a line names. Quotes in what was typed are escaped, so only the line's own fields look like these."""
    sessions = frozenset(name.decode(errors="replace") for name in _SESSIONS.findall(line))
    files = frozenset(_paste(name.decode()) for name in _PASTES.findall(line))
    return PromptMention(sessions, files, line.endswith(b"\n") or _is_value(line))


def _is_value(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _paste(name: str) -> str:
    """Where what was pasted lies, by the name that the list has for it."""
    return f"paste-cache/{name}.txt"


def _log(cwd: str, session: str) -> str:
    """The usual path of a log; a longer name is cut and gets a hash that differs from version to version."""
    folder = _OTHER.sub("-", cwd)
    return f"projects/{folder}/{session}.jsonl" if session and 0 < len(folder) <= _LONGEST_NAME else ""
