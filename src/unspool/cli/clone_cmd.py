"""`unspool clone`: a lighter copy of a session that the agent can resume."""

import os
import sys
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import copy_options, options, settings
from unspool.cli.output import print_json, say_line
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from unspool.copies.compress import CompressOutcome, ModelProvider, Passage, ServiceOptions, TurnBands
    from unspool.copies.copy_plan import CopyPlan
    from unspool.copies.treatment import Treatment
    from unspool.model import Event
    from unspool.store.library import Library


class CompressFlags(NamedTuple):
    """What was said about compression."""

    bands: "TurnBands"
    given: "ServiceOptions"
    user: bool
    yes: bool


class CompressResult(NamedTuple):
    """What came of it, and who did it."""

    outcome: "CompressOutcome"
    by: str


def _compress_flags(compress: str | None, user: bool, yes: bool, **service: str) -> CompressFlags | None:
    """What is to be compressed and how; None where nothing is."""
    if compress is None:
        if user or any(service.values()):
            raise UsageProblem("--compress-... says how to compress; --compress says that it shall be done.")
        return None
    from unspool.copies.compress import ServiceOptions, TurnBands

    bands = TurnBands.parse(compress) if compress else TurnBands.parse()
    return CompressFlags(bands, ServiceOptions(**service), user, yes)


compress_options = options.as_argument(
    "compressing",
    _compress_flags,
    click.option(
        "--compress",
        is_flag=False,
        flag_value="",
        metavar="BANDS",
        help="Let a model shorten old answers: 0-40:heavy,40-80:light. Asks first (docs/clones.md).",
    ),
    click.option("--compress-user", "user", is_flag=True, help="What you wrote too."),
    click.option("--compress-provider", "provider", default="", metavar="NAME", help="agent, openai or anthropic."),
    click.option("--compress-url", "url", default="", metavar="URL", help="The service's address."),
    click.option("--compress-model", "model", default="", metavar="NAME", help="The model to ask."),
    click.option("--compress-key-file", "key_file", default="", metavar="FILE", help="The file that holds the key."),
    click.option("-y", "--yes", is_flag=True, help="Send without asking."),
)


def compress_copy(
    draught: "CopyPlan", wanted: CompressFlags, library: "Library", *, dry_run: bool
) -> CompressResult | None:
    """The passages of a copy made shorter; None where nothing was sent, because nothing need be, or on a dry run."""
    from unspool.copies.compress import CompressOptions, Estimate, choose_passages, compress

    passages = list(_passages(draught))
    wish = CompressOptions(sum(event.prompt is not None for event in draught.lines), wanted.user)
    choice = choose_passages(passages, wanted.bands, wish)
    if not choice.chosen:
        click.echo(
            "Nothing is left to compress: what is in the bands is too short, or was compressed before.", err=True
        )
        return None
    provider, model = _provider(draught, wanted, dry_run=dry_run)
    estimate = Estimate.of(choice, model, library.prices, datetime.now(UTC))
    by = " ".join(word for word in (provider.name if provider else "the agent", model) if word)
    say_line(f"To {by}: {estimate}.", err=True)
    if provider is None or dry_run:
        return None
    _ask(wanted)
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=len(choice.chosen), label="Compressing", file=sys.stderr, hidden=quiet) as bar:
        return CompressResult(compress(passages, wanted.bands, provider, wish, tell=lambda _: bar.update(1)), by)


def _provider(draught: "CopyPlan", wanted: CompressFlags, *, dry_run: bool) -> "tuple[ModelProvider | None, str]":
    """Who is asked, and for which model; on a dry run, nobody need be there."""
    from unspool.copies.compress import connect, service_options

    said = service_options(wanted.given, os.environ, settings.settings_table("compress"))
    try:
        provider = connect(said, os.environ, draught.copy.original.format)
    except NotFound:
        if not dry_run:
            raise
        return None, said.model
    return provider, provider.model


def _ask(wanted: CompressFlags) -> None:
    """Go on only where somebody agrees."""
    if wanted.yes:
        return
    if not sys.stdin.isatty():
        raise UsageProblem("Words of the session would be sent; without a terminal to ask on, --yes agrees to that.")
    click.confirm("Send these words?", err=True, abort=True)


def tell_compressed(done: CompressResult, session: str) -> None:
    """Say what became of it, and keep what was before and after beside the record of the copy."""
    from unspool.copies.compress import write_record
    from unspool.store.archive.database import archive_folder

    outcome, stats = done.outcome, done.outcome.stats
    path = Path(archive_folder() / "clones" / f"{session}-compression.md")
    try:
        write_record(outcome, path, done.by)
    except OSError as error:
        settings.warn_once(f"what was before and after could not be kept in {path}: {error.strerror}.")
    say_line(
        f"Compressed {stats.compressed:,} passages, {stats.tokens_before:,} -> {stats.tokens_after:,} tokens; "
        f"{stats.skipped:,} too short, {stats.failed:,} kept as they were. Before and after: {path}",
        err=True,
    )
    for why, count in outcome.reasons[:3]:
        say_line(f"  {count:,} kept: {why}", err=True)


def _passages(draught: "CopyPlan") -> "Iterator[Passage]":
    """The words of every line that the copy keeps, but for those that a model has shortened before."""
    from unspool.copies.compress import Passage
    from unspool.copies.records import compressed_lines as shortened

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


_FIGURES = {
    "keep_tool_turns", "truncate", "truncate_lines", "truncate_chars", "strip_tools", "strip_thinking", "mode",
    "drop_images", "drop_snapshots", "drop_side", "drop_compacted",
}  # fmt: skip
_CHOOSING = _FIGURES - {"truncate", "truncate_lines", "truncate_chars", "mode"}
"""Figures that say by themselves what goes, so that no preset is taken for granted; the others only refine one."""


def treatment_options(command: options.Command) -> options.Command:
    """The options that make a `treatment` and `chosen`, what was said of it."""

    @wraps(command)
    def run(*args: Any, preset: str | None, **given: Any) -> Any:
        from msgspec.structs import replace

        from unspool.copies.treatment import preset as find_preset

        figures = {key: given.pop(key) for key in _FIGURES}
        chosen = {key: value for key, value in figures.items() if value is not None and value is not False}
        name = preset or ("none" if _CHOOSING & chosen.keys() else "default")
        treatment = replace(find_preset(name, settings.chosen_presets()), **chosen)
        return command(*args, treatment=treatment, chosen={"preset": name, **chosen}, **given)

    return options.with_options(run, _TREATMENT)


def _share_option(name: str, help_line: str) -> options.Decorator:
    return click.option(name, callback=copy_options.parse_percent, metavar="PERCENT", help=help_line)


_TREATMENT = (
    click.option("--preset", metavar="NAME", help="default, aggressive, heavy, extreme, none, or one of your own."),
    click.option(
        "--keep-tool-turns", type=click.IntRange(min=0), metavar="N", help="The newest N turns keep their tools."
    ),
    _share_option("--truncate", "Of these, the oldest share is truncated."),
    click.option("--truncate-lines", type=click.IntRange(min=1), metavar="N", help="Lines left where truncated [2]."),
    click.option(
        "--truncate-chars", type=click.IntRange(min=1), metavar="N", help="Characters left where truncated [120]."
    ),
    _share_option("--strip-tools", "Strip the oldest share of all turns."),
    _share_option("--strip-thinking", "The oldest share loses its reasoning."),
    click.option(
        "--mode",
        type=click.Choice(["remove", "truncate", "stub"]),
        help="What stripping does: calls and results go, are cut short, or results are told in one line [remove].",
    ),
    click.option("--drop-images", is_flag=True, help="Leave pictures and documents out."),
    click.option("--drop-snapshots", is_flag=True, help="Leave the agent's file history out."),
    click.option("--drop-side", is_flag=True, help="Leave subagents and what else lies beside the log out."),
    click.option("--drop-compacted", is_flag=True, help="Leave out what a compaction has closed."),
)


@click.command("clone")
@click.argument("session", required=False, default="")
@treatment_options
@click.option(
    "--fit", type=click.IntRange(min=1), metavar="TOKENS", help="The mildest treatment that fits into so many."
)
@click.option("--undo", is_flag=True, help="Take a copy back: SESSION is the copy's id, else the last one made.")
@click.option("--force", is_flag=True, help="With --undo: though the copy was gone on with.")
@compress_options
@copy_options.copy_output_options
@options.sources
def command(
    session: str,
    treatment: "Treatment",
    chosen: dict[str, Any],
    output: copy_options.CopyOutput,
    library: "Library",
    **how: Any,
) -> None:
    """Make a lighter copy of a session that the agent can resume.

    \b
    unspool clone latest                       the preset `default`, beside the original
    unspool clone 3f2a --preset heavy -n       what `heavy` would leave out, line by line
    unspool clone 3f2a --fit 60000             the mildest treatment that fits
    unspool clone 3f2a --strip-tools 70% --mode stub
    unspool clone --undo                       take the last copy back

    The conversation stays: every prompt and every answer. Old tool calls and their results go, or are cut short,
    with the reasoning. Presets: `default` keeps the tools of the newest 20 turns that use any and truncates the
    older half of those; `aggressive` 10 and half; `heavy` 10 and 80 %; `extreme` keeps none; `none` is a plain copy.

    The copy is proven before it is written, by rules of its own (`unspool lint`), has new ids throughout, and never
    touches the original. `unspool list --clones` lists the copies made.
    """
    if how["undo"]:
        _undo(session, output, force=how["force"])
        return
    if not session:
        raise UsageProblem("Name a session: its id or how that begins, a path, a piece of its title, or `latest`.")
    from msgspec.structs import replace

    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fit import mildest_fit, room_for_conversation, window_of
    from unspool.copies.material import CopyMaterial
    from unspool.copies.original import open_source

    wish = CopyRequest(title=output.title, options={**chosen, **({"fit": how["fit"]} if how["fit"] else {})})
    with open_source(library, session) as source:
        material = CopyMaterial(source.log)
        if how["fit"]:
            treatment = mildest_fit(material, treatment, room_for_conversation(how["fit"], window_of(source.log)))
        draught, done = plan_copy(material, treatment, wish), None
        if how["compressing"] is not None:
            done = compress_copy(draught, how["compressing"], library, dry_run=output.dry_run)
        if done is not None:
            said = {**wish.options, "compress": str(how["compressing"].bands)}
            draught = plan_copy(material, treatment, replace(wish, texts=done.outcome.texts, options=said))
        copy_options.finish_copy(draught, source, output)
        if done is not None:
            tell_compressed(done, draught.copy.making.session)


def _undo(session: str, output: copy_options.CopyOutput, *, force: bool) -> None:
    from unspool.copies import records

    record = records.find_record(session)
    if output.dry_run:
        removed = [one.path for one in record.files]
    else:
        removed = [str(path) for path in records.undo_copy(record, force=force)]
    if output.as_json:
        print_json({"session": record.session, "removed": removed, "dry_run": output.dry_run})
        return
    word = "Would remove" if output.dry_run else "Removed"
    for path in removed:
        say_line(f"{word} {path}")
