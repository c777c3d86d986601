"""`--compress`: a model rewrites old passages of a copy shorter, after the cost was told and agreed to."""

import os
import sys
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import chosen, keeping, options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.clone.compress import Bands, Given, Outcome, Passage
    from unspool.clone.draught import Draught
    from unspool.library import Library


class Compressing(NamedTuple):
    """What was said about compression."""

    bands: "Bands"
    given: "Given"
    user: bool
    yes: bool


def compressions(command: options.Command) -> options.Command:
    """The options that make `compressing`; None where nothing is to be compressed."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        bands, user, yes = given.pop("compress"), given.pop("compress_user"), given.pop("yes")
        service = tuple(given.pop(f"compress_{name}") or "" for name in ("provider", "url", "model", "key_file"))
        if bands is None:
            if user or any(service):
                raise UsageProblem("--compress-... says how to compress; --compress says that it shall be done.")
            return command(*args, compressing=None, **given)
        from unspool.clone.compress import Bands, Given

        provider, url, model, key_file = service
        said = Given(provider, url, model, "", key_file)
        made = Compressing(Bands.parse(bands) if bands else Bands.parse(), said, user, yes)
        return command(*args, compressing=made, **given)

    made: options.Command = run
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


_OPTIONS = (
    click.option(
        "--compress",
        is_flag=False,
        flag_value="",
        metavar="BANDS",
        help="Let a model shorten old answers: 0-40:heavy,40-80:light. Asks first (docs/clones.md).",
    ),
    click.option("--compress-user", is_flag=True, help="What you wrote too."),
    click.option("--compress-provider", metavar="NAME", help="agent, openai or anthropic."),
    click.option("--compress-url", metavar="URL", help="The service's address."),
    click.option("--compress-model", metavar="NAME", help="The model to ask."),
    click.option("--compress-key-file", metavar="FILE", help="The file that holds the key."),
    click.option("-y", "--yes", is_flag=True, help="Send without asking."),
)


def compressed(draught: "Draught", wanted: Compressing, library: "Library", *, dry_run: bool) -> "Outcome | None":
    """The passages of a copy made shorter; None where nothing was sent."""
    from unspool.clone.compress import Estimate, Wish, choose, compress, connect, given

    passages = list(_passages(draught))
    turns = max((one.turn for one in passages), default=0) + 1
    wish = Wish(turns, wanted.user)
    choice = choose(passages, wanted.bands, wish)
    provider = connect(
        given(wanted.given, os.environ, chosen.table("compress")), os.environ, draught.copy.original.format
    )
    estimate = Estimate.of(choice, provider.model, library.prices, datetime.now(UTC))
    click.echo(f"To {provider.name}: {estimate}.", err=True)
    if dry_run or not choice.chosen or not _agreed(wanted):
        return None
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=len(choice.chosen), label="Compressing", file=sys.stderr, hidden=quiet) as bar:
        return compress(passages, wanted.bands, provider, wish, tell=lambda _: bar.update(1))


def _agreed(wanted: Compressing) -> bool:
    if wanted.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageProblem("Words of the session would be sent; without a terminal to ask on, --yes agrees to that.")
    return click.confirm("Send these words?", err=True)


def tell(outcome: "Outcome", session: str) -> None:
    """Say what became of it, and keep what was before and after beside the record of the copy."""
    from unspool.archive.place import folder
    from unspool.clone.compress import write_record

    stats = outcome.stats
    path = Path(folder() / "clones" / f"{session}-compression.md")
    write_record(outcome, path, "a model")
    click.echo(
        f"Compressed {stats.compressed:,} passages, {stats.tokens_before:,} -> {stats.tokens_after:,} tokens; "
        f"{stats.skipped:,} too short, {stats.failed:,} kept as they were. Before and after: {path}",
        err=True,
    )
    for why, count in outcome.reasons[:3]:
        keeping.say(f"  {count:,} kept: {why}", err=True)


def _passages(draught: "Draught") -> "Iterator[Passage]":
    """The words of every line that the copy keeps."""
    from unspool.clone.compress import Passage
    from unspool.model import Text

    turn = -1
    for event in draught.copy.lines:
        if event.prompt is not None:
            turn += 1
            if event.prompt.kind == "text" and event.prompt.text:
                yield Passage(event.id, max(turn, 0), "user", event.prompt.text)
        elif event.part is not None:
            words = "\n\n".join(block.text for block in event.blocks if isinstance(block, Text) and block.text.strip())
            if words:
                yield Passage(event.id, max(turn, 0), "assistant", words)
