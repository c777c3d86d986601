"""A copy decided and counted, and not written yet."""

from datetime import datetime
from uuid import uuid4

import msgspec

from unspool.clone import titles
from unspool.clone.copy import Copy, Making
from unspool.clone.material import Material
from unspool.clone.original import Original
from unspool.clone.soundness import sound
from unspool.clone.tally import Tally
from unspool.clone.treatment import Treatment
from unspool.clone.zones import treated
from unspool.errors import Unsound
from unspool.formats.writing import Cut, Cuts
from unspool.model import Event


class Wish(msgspec.Struct, frozen=True):
    """What is asked of a copy beside its treatment."""

    command: str = "clone"
    title: str = ""
    leaf: int | None = None
    """The line, by its position, that it ends with; None: where the session stands."""
    without: frozenset[str] = frozenset()
    """Lines that are left out."""
    texts: dict[str, str] = {}
    """Words that replace those of a line."""
    calls: dict[str, Cut] = {}
    """What becomes of single calls, by their ids, whatever the treatment says."""
    untold: frozenset[str] = frozenset()
    """Lines with news of background tasks that do not tell what those found."""
    shown: bool = False
    """For reading: under the ids of the original, reasoning kept though the model's provider would not take it."""
    paths: tuple[tuple[str, str], ...] = ()
    options: dict[str, object] = {}


class Draught(msgspec.Struct, frozen=True):
    """A copy that is decided and counted, and not written yet."""

    copy: Copy
    material: Material
    lines: list[Event]
    """The conversation before."""
    cuts: Cuts
    before: Tally
    after: Tally
    wish: Wish


def drawn(log: Original | Material, treatment: Treatment, wish: Wish) -> Draught:
    """The copy of a session under a treatment; quicker where the same material was drawn from before."""
    material = log if isinstance(log, Material) else Material(log, wish.leaf)
    conversation = material.conversation.forgotten() if treatment.drop_compacted else material.conversation
    making = _making(material.log, treatment, wish)
    if making.goes_elsewhere:
        conversation = conversation.without(material.is_local_record)
    cuts = treated(conversation, treatment, material.writer)
    cuts.lines |= wish.without
    cuts.calls |= wish.calls
    cuts.untold |= wish.untold
    cuts.texts = {line: text for line, text in wish.texts.items() if line not in cuts.lines}
    sound(conversation, cuts, material.writer, altered=bool(wish.paths), shown=wish.shown)
    copy = Copy(material, conversation, cuts, making)
    if not any(event.turn for event in copy.window):
        raise Unsound(f"Nothing would be left of {material.log.path}.")
    return Draught(copy, material, conversation.lines, cuts, material.before, copy.tally(), wish)


def counted(draught: Draught) -> Tally:
    """What the copy will hold, its size included, without writing it."""
    return msgspec.structs.replace(draught.after, bytes=sum(map(len, draught.copy.chunks())))


def _making(log: Original, treatment: Treatment, wish: Wish) -> Making:
    return Making(
        session=log.session if wish.shown else str(uuid4()),
        title=wish.title or titles.clone(log, datetime.now().astimezone()),
        snapshots=not treatment.drop_snapshots,
        side=not treatment.drop_side,
        paths=wish.paths,
        goes_elsewhere=wish.shown or bool(wish.paths) or not log.at_home,
    )
