"""What a person may set: each by its name, with what it may be, and what it is where nobody says."""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any, NamedTuple

import msgspec

from unspool.index.zones import LOCAL, zone
from unspool.site.options import KINDS, SiteOptions

THEMES = ("system", "light", "dark")
SIZES = ("small", "medium", "large")
DENSITIES = ("normal", "compact")
_MOST_PER_PAGE = 500
_LONGEST = 4096


class Settings(msgspec.Struct, frozen=True):
    """Every choice, as it holds."""

    theme: str = "system"
    font_size: str = "medium"
    density: str = "normal"
    hide: tuple[str, ...] = ()
    """Kinds of blocks that pages hide until somebody wants to see them."""
    sources: tuple[str, ...] = ()
    """Folders to read instead of the usual ones."""
    time_zone: str = LOCAL
    per_page: int = 5
    """Prompts on a page of a session."""
    prices: str = ""
    """A price file to lay over the built-in list; empty for the usual place."""

    @property
    def zone(self) -> tzinfo | None:
        """Where days begin; None: as this machine's clock has it."""
        return zone(self.time_zone)

    @property
    def styles(self) -> tuple[str, ...]:
        """The style files that pages wear for these choices."""
        sized = (f"size-{self.font_size}.css",) if self.font_size != "medium" else ()
        return (*sized, *(("compact.css",) if self.density == "compact" else ()))

    def options(self, over: SiteOptions) -> SiteOptions:
        """How pages of sessions are made by these choices."""
        return msgspec.structs.replace(over, theme=self.theme, per_page=self.per_page)


class Field(NamedTuple):
    """One choice."""

    name: str
    title: str
    about: str
    check: Callable[[Any], str]
    """What is wrong with a value; empty where it is right."""
    choices: tuple[str, ...] = ()
    kind: str = "text"
    """How it is typed: choice, many, lines, number or text."""

    @property
    def variable(self) -> str:
        """The environment variable that has the last word."""
        return f"UNSPOOL_{self.name.upper()}"

    def parsed(self, text: str) -> Any:
        """A typed value as it stands in the file; what is no number stays text, for `check` to say so."""
        text = text.strip()
        if self.kind == "number":
            return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else text
        if self.kind in ("many", "lines"):
            return [part.strip() for part in text.replace(",", "\n").split("\n") if part.strip()]
        return text


def _one_of(*known: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        return "" if isinstance(value, str) and value in known else f"must be one of {', '.join(known)}"

    return check


def _texts(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        return 'must be a list of texts, such as ["one", "two"]'
    return "" if all(len(one) <= _LONGEST and one.isprintable() for one in value) else "holds what no path holds"


def _kinds(value: Any) -> str:
    wrong = _texts(value) or ", ".join(sorted(set(value) - set(KINDS)))
    return wrong and (wrong if wrong.startswith("must") else f"may hold {', '.join(KINDS)}; not {wrong}")


def _number(value: Any) -> str:
    right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_PER_PAGE
    return "" if right else f"must be a whole number from 1 to {_MOST_PER_PAGE}"


def _zone(value: Any) -> str:
    try:
        zone(value if isinstance(value, str) else "?")
    except ValueError:
        return "must be local, UTC, an offset such as +05:30 or the name of a time zone, such as Europe/Berlin"
    return ""


def _path(value: Any) -> str:
    right = isinstance(value, str) and len(value) <= _LONGEST and (not value or value.isprintable())
    return "" if right else "must be the path of a file"


FIELDS = (
    Field("theme", "Theme", "Light, dark, or as the system has it.", _one_of(*THEMES), THEMES, "choice"),
    Field("font_size", "Text size", "How large words are.", _one_of(*SIZES), SIZES, "choice"),
    Field("density", "Density", "Compact lists show more rows.", _one_of(*DENSITIES), DENSITIES, "choice"),
    Field("hide", "Hidden in transcripts", "What a session's pages hide until it is asked for.", _kinds, KINDS, "many"),
    Field("time_zone", "Time zone", "Where days begin: local, UTC, +05:30 or a name such as Europe/Berlin.", _zone),
    Field("per_page", "Prompts a page", "How much of a session one page holds.", _number, (), "number"),
    Field(
        "sources",
        "Sources",
        "Folders of logs, one a line; none: the usual ones. Read at the next start.",
        _texts,
        (),
        "lines",
    ),
    Field(
        "prices", "Price overrides", "A price file laid over the built-in list prices. Read at the next start.", _path
    ),
)
BY_NAME: Mapping[str, Field] = {field.name: field for field in FIELDS}
