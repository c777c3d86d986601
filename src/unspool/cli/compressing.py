"""`--compress`: a model rewrites old passages of a copy shorter, after the cost was told and agreed to."""

import os
import sys
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import chosen, keeping, options
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from unspool.clone.compress import Bands, Given, Outcome, Passage, Provider
    from unspool.clone.draught import Draught
    from unspool.library import Library
    from unspool.model import Event


class Compressing(NamedTuple):
    """What was said about compression."""

    bands: "Bands"
    given: "Given"
    user: bool
    yes: bool


class Done(NamedTuple):
    """What came of it, and who did it."""

    outcome: "Outcome"
    by: str


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


def compressed(draught: "Draught", wanted: Compressing, library: "Library", *, dry_run: bool) -> Done | None:
    """The passages of a copy made shorter; None where nothing was sent, because nothing need be, or on a dry run."""
    from unspool.clone.compress import Estimate, Wish, choose, compress

    passages = list(_passages(draught))
    wish = Wish(sum(event.prompt is not None for event in draught.lines), wanted.user)
    choice = choose(passages, wanted.bands, wish)
    if not choice.chosen:
        click.echo(
            "Nothing is left to compress: what is in the bands is too short, or was compressed before.", err=True
        )
        return None
    provider, model = _provider(draught, wanted, dry_run=dry_run)
    estimate = Estimate.of(choice, model, library.prices, datetime.now(UTC))
    by = " ".join(word for word in (provider.name if provider else "the agent", model) if word)
    keeping.say(f"To {by}: {estimate}.", err=True)
    if provider is None or dry_run:
        return None
    _ask(wanted)
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=len(choice.chosen), label="Compressing", file=sys.stderr, hidden=quiet) as bar:
        return Done(compress(passages, wanted.bands, provider, wish, tell=lambda _: bar.update(1)), by)


def _provider(draught: "Draught", wanted: Compressing, *, dry_run: bool) -> "tuple[Provider | None, str]":
    """Who is asked, and for which model; on a dry run, nobody need be there."""
    from unspool.clone.compress import connect, given

    said = given(wanted.given, os.environ, chosen.table("compress"))
    try:
        provider = connect(said, os.environ, draught.copy.original.format)
    except NotFound:
        if not dry_run:
            raise
        return None, said.model
    return provider, provider.model


def _ask(wanted: Compressing) -> None:
    """Go on only where somebody agrees."""
    if wanted.yes:
        return
    if not sys.stdin.isatty():
        raise UsageProblem("Words of the session would be sent; without a terminal to ask on, --yes agrees to that.")
    click.confirm("Send these words?", err=True, abort=True)


def tell(done: Done, session: str) -> None:
    """Say what became of it, and keep what was before and after beside the record of the copy."""
    from unspool.archive.place import folder
    from unspool.clone.compress import write_record

    outcome, stats = done.outcome, done.outcome.stats
    path = Path(folder() / "clones" / f"{session}-compression.md")
    try:
        write_record(outcome, path, done.by)
    except OSError as error:
        chosen.warn(f"what was before and after could not be kept in {path}: {error.strerror}.")
    keeping.say(
        f"Compressed {stats.compressed:,} passages, {stats.tokens_before:,} -> {stats.tokens_after:,} tokens; "
        f"{stats.skipped:,} too short, {stats.failed:,} kept as they were. Before and after: {path}",
        err=True,
    )
    for why, count in outcome.reasons[:3]:
        keeping.say(f"  {count:,} kept: {why}", err=True)


def _passages(draught: "Draught") -> "Iterator[Passage]":
    """The words of every line that the copy keeps, but for those that a model has shortened before."""
    from unspool.clone.compress import Passage
    from unspool.clone.lineage import compressed as shortened

    there = {event.id for event in draught.copy.lines} - shortened(draught.copy.original.session)
    turn = -1
    for event in draught.lines:
        turn += event.prompt is not None
        role, words = _words(event)
        if words and event.id in there:
            yield Passage(event.id, max(turn, 0), role, words)


def _words(event: "Event") -> "tuple[Literal['user', 'assistant'], str]":
    from unspool.model import Text

    if event.prompt is not None:
        return "user", event.prompt.text if event.prompt.kind == "text" else ""
    texts = (block.text for block in event.blocks if isinstance(block, Text) and block.text.strip())
    return "assistant", "\n\n".join(texts) if event.part is not None else ""
