"""How a session is shared: settings, choices remembered by project, replacements by session."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from unspool.files import write_atomically
from unspool.redact.replacements import SecretFinding
from unspool.redact.rules import RuleSet
from unspool.store.archive.database import archive_folder

_Kept = TypeVar("_Kept")


class ShareChoices(msgspec.Struct, frozen=True):
    """The default shares everything, and lets nothing stay that was found."""

    without: tuple[tuple[int, int], ...] = ()
    """Turns that are left out, from one number to another, both included."""
    thinking: bool = True
    tools: bool = True
    """Whether what tools answered is shared; that they were called, and with what, always is."""
    images: bool = True
    subagents: bool = True
    terms: tuple[str, ...] = ()
    """Words that must go as well, such as a customer's name."""
    keep: frozenset[str] = frozenset()
    """Rules and single findings, by their ids, that stay."""

    def left_out(self) -> list[str]:
        """The kinds that are left out, as a report names them."""
        kinds = {"thinking": self.thinking, "tool outputs": self.tools, "images": self.images}
        kinds["subagents"] = self.subagents
        return [name for name, stays in kinds.items() if not stays]


def load_choices(project: str) -> ShareChoices:
    """What was chosen for a project before; the default where nothing was, or where it cannot be read."""
    return _load(choices_file(project), ShareChoices)


def save_choices(project: str, choices: ShareChoices) -> None:
    """Keep the choices for the project's next share, for this user's eyes alone; turns are of one session, and go."""
    kept = msgspec.structs.replace(choices, without=())
    write_atomically(choices_file(project), [msgspec.json.encode(kept, order="deterministic")])


def choices_file(project: str) -> Path:
    """A project's file, by a name that tells nothing of it."""
    return archive_folder() / "shares" / _untelling_name(project)


def _untelling_name(text: str) -> str:
    return f"{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:24]}.json"


def finding_id(rule: str, value: str) -> str:
    """How a person names one finding: the same for the same value, and nothing of it is told."""
    return hashlib.sha256(f"{rule}\0{value}".encode(errors="replace")).hexdigest()[:10]


Review = Callable[[Sequence[SecretFinding], ShareChoices], ShareChoices]
"""Shows a person what was found, and gives the choices as they are then."""


class ShareSettings(NamedTuple):
    """How a session is shared."""

    choices: Callable[[str], ShareChoices]
    """What was chosen, by the session's project."""
    rules: RuleSet
    title: str = ""
    review: Review | None = None
    """None: everything found goes, but for what the choices let stay."""
    environment: Mapping[str, str] = os.environ
    rehearsed: bool = False
    """Whether nothing will be made of it, so that nothing is remembered."""
    names: Mapping[str, str] = {}
    """What things were called in a rehearsal, which they go on being called."""


def load_replacements(session: str) -> dict[str, str]:
    """What was replaced before; empty where nothing was, or where it cannot be read."""
    return _load(_place(session), dict[str, str])


def _load(path: Path, kind: type[_Kept]) -> _Kept:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return kind()


def save_replacements(session: str, names: Mapping[str, str]) -> None:
    write_atomically(_place(session), [msgspec.json.encode(dict(names), order="sorted")])


def _place(session: str) -> Path:
    return archive_folder() / "shares" / "names" / _untelling_name(session)
