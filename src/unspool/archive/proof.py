"""What verifying an archive finds."""

import msgspec


class Damage(msgspec.Struct, frozen=True, order=True):
    """Bytes of a file that are not in the archive as they were kept."""

    machine: str
    root: str
    path: str
    generation: int
    start: int
    size: int
    why: str


class Proof(msgspec.Struct, frozen=True):
    """What was proved, and what was found wrong."""

    archive: str
    files: int = 0
    generations: int = 0
    bytes: int = 0
    """Of all generations together."""
    packs: int = 0
    pages: int = 0
    damaged_pages: tuple[int, ...] = ()
    damages: tuple[Damage, ...] = ()
    problems: tuple[str, ...] = ()
    """What else is wrong, a sentence each."""
    refused: bool = False
    """Whether the database cannot be trusted as one: it must be put together anew from what is readable."""

    @property
    def clean(self) -> bool:
        return not (self.damaged_pages or self.damages or self.problems)
