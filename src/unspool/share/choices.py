"""What a person chose to share of a session: what is left out, what stays though it was found, what else must go."""

import hashlib
from pathlib import Path

import msgspec

from unspool.archive.place import folder
from unspool.files import write_atomically

_FOLDER = "shares"


class Choices(msgspec.Struct, frozen=True):
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


def remembered(project: str) -> Choices:
    """What was chosen for a project before; the default where nothing was, or where it cannot be read."""
    try:
        return msgspec.json.decode(place(project).read_bytes(), type=Choices)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Choices()


def remember(project: str, choices: Choices) -> None:
    """Keep the choices for the project's next share, for this user's eyes alone; turns are of one session, and go."""
    kept = msgspec.structs.replace(choices, without=())
    write_atomically(place(project), [msgspec.json.encode(kept, order="deterministic")])


def place(project: str) -> Path:
    """A project's file, by a name that tells nothing of it."""
    return folder() / _FOLDER / f"{hashlib.sha256(project.encode(errors='replace')).hexdigest()[:24]}.json"


def finding_id(rule: str, value: str) -> str:
    """How a person names one finding: the same for the same value, and nothing of it is told."""
    return hashlib.sha256(f"{rule}\0{value}".encode(errors="replace")).hexdigest()[:10]
