"""`unspool clone`: a lighter copy of a session that the agent can resume."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import copy_options, options, settings
from unspool.cli.output import print_result, say_line
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from unspool.copies.compress.passages import CompressOutcome, Passage, PassageRedactor, TurnBands
    from unspool.copies.compress.providers import ModelProvider, ServiceOptions
    from unspool.copies.copy_plan import CopyPlan
    from unspool.redact.rules import RuleSet
    from unspool.store.library import Library


class CompressFlags(NamedTuple):
    bands: "TurnBands"
    given: "ServiceOptions"
    user: bool
    plain: bool
    """Whether words are sent as they are, secrets too."""
    yes: bool


class CompressResult(NamedTuple):
    outcome: "CompressOutcome"
    """As it was sent and came back."""
    texts: dict[str, str]
    """The new words, by the ids of their lines, with all that was replaced before they were sent."""
    by: str


def _compress_flags(compress: str | None, user: bool, plain: bool, yes: bool, **service: str) -> CompressFlags | None:
    """What is to be compressed and how; None where nothing is."""
    if compress is None:
        if user or plain or any(service.values()):
            raise UsageProblem("--compress-... says how to compress; --compress says that it shall be done.")
        return None
    from unspool.copies.compress.passages import TurnBands
    from unspool.copies.compress.providers import ServiceOptions

    bands = TurnBands.parse(compress) if compress else TurnBands.parse()
    return CompressFlags(bands, ServiceOptions(**service), user, plain, yes)


_COMPRESS = "Let a model shorten old answers, redacted: 0-40:heavy,40-80:light. Asks first (docs/clones.md)."
compress_options = options.as_argument(
    "compressing",
    _compress_flags,
    click.option("--compress", is_flag=False, flag_value="", metavar="BANDS", help=_COMPRESS),
    click.option("--compress-user", "user", is_flag=True, help="What you wrote too."),
    click.option("--compress-unredacted", "plain", is_flag=True, help="Send secrets and names as they are."),
    click.option("--compress-provider", "provider", default="", metavar="NAME", help="agent, openai or anthropic."),
    click.option("--compress-url", "url", default="", metavar="URL", help="The service's address."),
    click.option("--compress-model", "model", default="", metavar="NAME", help="The model to ask."),
    click.option("--compress-key-file", "key_file", default="", metavar="FILE", help="The file that holds the key."),
    click.option("-y", "--yes", is_flag=True, help="Send without asking."),
)


def compress_copy(
    plan: "CopyPlan", wanted: CompressFlags, library: "Library", *, dry_run: bool
) -> CompressResult | None:
    """The passages of a copy made shorter; None where nothing was sent, because nothing need be, or on a dry run."""
    from unspool.copies.compress.passages import CompressOptions, choose_passages
    from unspool.copies.compress.run import Estimate, compress

    table = dict(settings.settings_table("compress"))
    plain = _is_plain(table.pop("redact", True)) or wanted.plain
    rules = None if plain else options.redaction_rules()
    redactor = _redactor(plan, list(_passages(plan)), rules)
    choices = CompressOptions(sum(event.prompt is not None for event in plan.lines), wanted.user)
    choice = choose_passages(redactor.passages, wanted.bands, choices)
    if not choice.chosen:
        say_line("Nothing is left to compress: what is in the bands is too short, or was compressed before.", err=True)
        return None
    provider, model = _provider(plan, wanted, table, dry_run=dry_run)
    estimate = Estimate.of(choice, model, library.prices, datetime.now(UTC))
    by = " ".join(word for word in (provider.name if provider else "the agent", model) if word)
    replaced = f"{human.count(redactor.count, 'value')} replaced"
    sent = "as it is, secrets too" if rules is None else f"redacted, {replaced} by rules {rules.version}"
    say_line(f"To {by}: {estimate}. It is sent {sent}.", err=True)
    if provider is None or dry_run:
        return None
    if not wanted.yes and not sys.stdin.isatty():
        raise UsageProblem("Words of the session would be sent; without a terminal to ask on, --yes agrees to that.")
    if not wanted.yes:
        click.confirm("Send these words?", err=True, abort=True)
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=len(choice.chosen), label="Compressing", file=sys.stderr, hidden=quiet) as bar:
        done = compress(redactor.passages, wanted.bands, provider, choices, tell=lambda _: bar.update(1))
    return CompressResult(done, {line: redactor.restored(text) for line, text in done.texts.items()}, by)


def _is_plain(redact: object) -> bool:
    if not isinstance(redact, bool):
        raise UsageProblem("The setting compress.redact is true or false.")
    return not redact


def _redactor(plan: "CopyPlan", passages: "list[Passage]", rules: "RuleSet | None") -> "PassageRedactor":
    """What takes from the passages all that a share of the session would take; nothing without rules."""
    from unspool.copies.compress.passages import PassageRedactor
    from unspool.redact.finder import Finder
    from unspool.redact.log import matches_in_lines
    from unspool.redact.rules import PersonalNames, git_signers
    from unspool.redact.spread import spread_values
    from unspool.share.choices import load_choices

    if rules is None:
        return PassageRedactor(None, passages)
    log = plan.copy.original
    lines = log.data.splitlines()
    people = PersonalNames.of(os.environ, log.facts.cwds, git_signers(lines))
    finder = Finder(rules, people, load_choices(log.facts.cwd).terms)
    return PassageRedactor(spread_values(finder, matches_in_lines(lines, finder)), passages)


def _provider(
    plan: "CopyPlan", wanted: CompressFlags, table: dict[str, Any], *, dry_run: bool
) -> "tuple[ModelProvider | None, str]":
    """Who is asked, and for which model; on a dry run, nobody need be there."""
    from unspool.copies.compress.providers import connect, service_options

    service = service_options(wanted.given, os.environ, table)
    try:
        provider = connect(service, os.environ, plan.copy.original.agent)
    except NotFound:
        if not dry_run:
            raise
        return None, service.model
    return provider, provider.model


def tell_compressed(done: CompressResult, session: str) -> None:
    """Say what became of it, and keep what was before and after beside the record of the copy."""
    from unspool.copies.compress.passages import write_record
    from unspool.copies.records import compression_file
    from unspool.store.archive.database import ARCHIVE, archive_folder
    from unspool.store.archive.keys import is_encrypted

    outcome, stats, path = done.outcome, done.outcome.stats, compression_file(session)
    kept = f"Before and after: {path}"
    try:
        if is_encrypted(archive_folder() / ARCHIVE):
            kept = "Before and after are not kept beside an encrypted archive."
        else:
            write_record(outcome, path, done.by)
    except OSError as error:
        settings.warn_once(f"what was before and after could not be kept in {path}: {error.strerror}.")
    say_line(
        f"Compressed {stats.compressed:,} passages, {stats.tokens_before:,} -> {stats.tokens_after:,} tokens; "
        f"{stats.skipped:,} too short, {stats.failed:,} kept as they were. {kept}",
        err=True,
    )
    for why, count in outcome.reasons[:3]:
        say_line(f"  {count:,} kept: {why}", err=True)


def _passages(plan: "CopyPlan") -> "Iterator[Passage]":
    """The words of every line that the copy keeps, but for those that a model has shortened before."""
    from unspool.copies.compress.passages import Passage
    from unspool.copies.records import compressed_lines
    from unspool.model import Text

    there = {event.id for event in plan.copy.lines} - compressed_lines(plan.copy.original.session)
    turn = -1
    for event in plan.lines:
        turn += event.prompt is not None
        if event.prompt is not None:
            role: Literal["user", "assistant"] = "user"
            words = event.prompt.text if event.prompt.kind == "text" else ""
        else:
            texts = (block.text for block in event.blocks if isinstance(block, Text) and block.text.strip())
            role, words = "assistant", "\n\n".join(texts) if event.part is not None else ""
        if words and event.id in there:
            yield Passage(event.id, max(turn, 0), role, words)


_CHOOSING = {
    "keep_tool_turns", "strip_tools", "strip_thinking", "drop_images", "drop_snapshots", "drop_side", "drop_compacted",
    "drop_errors",
}  # fmt: skip
"""Figures that say by themselves what goes, so that no preset is taken for granted; the others only refine one."""


def _chosen(preset: str | None, **figures: Any) -> dict[str, Any]:
    """The preset and the figures that were named."""
    named = {name: value for name, value in figures.items() if value is not None and value is not False}
    return {"preset": preset or ("none" if _CHOOSING & named.keys() else "default"), **named}


def _share_option(name: str, help_line: str) -> options.Decorator:
    return click.option(name, callback=copy_options.parse_percent, metavar="PERCENT", help=help_line)


_MODE = "What stripping does: calls and results go, are cut short, or results are told in one line [remove]."
_treatment = options.as_argument(
    "chosen",
    _chosen,
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
    click.option("--mode", type=click.Choice(["remove", "truncate", "stub"]), help=_MODE),
    click.option("--drop-images", is_flag=True, help="Leave pictures and documents out."),
    click.option("--drop-snapshots", is_flag=True, help="Leave the agent's file history out."),
    click.option("--drop-side", is_flag=True, help="Leave subagents and what else lies beside the log out."),
    click.option("--drop-errors", is_flag=True, help="Leave out errors of the service that stand as answers."),
    click.option("--drop-compacted", is_flag=True, help="Leave out what a compaction has closed."),
)


@click.command("clone")
@click.argument("session", required=False, default="")
@_treatment
@click.option(
    "--fit", type=click.IntRange(min=1), metavar="TOKENS", help="The mildest treatment that fits into so many."
)
@click.option("--in-place", is_flag=True, help="Lighten the session's own file; what was there is put aside first.")
@click.option("--undo", is_flag=True, help="Take a copy or an --in-place back: SESSION is its id, else the last one.")
@click.option("--force", is_flag=True, help="With --undo: though the session went on since.")
@compress_options
@copy_options.copy_output_options
@options.sources
def command(
    session: str, chosen: dict[str, Any], output: copy_options.CopyOutput, library: "Library", **how: Any
) -> None:
    """Make a lighter copy of a session that the agent can resume.

    \b
    unspool clone latest                       the preset `default`, beside the original
    unspool clone 3f2a --preset heavy -n       what `heavy` would leave out, line by line
    unspool clone 3f2a --fit 60000             the mildest treatment that fits
    unspool clone 3f2a --strip-tools 70% --mode stub
    unspool clone 3f2a --in-place              no copy: the session's own file becomes lighter
    unspool clone --undo                       take the last copy back

    The conversation stays: every prompt and every answer. Old tool calls and their results go, or are cut short,
    with the reasoning. Presets: `default` keeps the tools of the newest 20 turns that use any and truncates the
    older half of those; `aggressive` 10 and half; `heavy` 10 and 80 %; `extreme` keeps none; `none` is a plain copy.

    The copy is proven before it is written, by rules of its own (`unspool lint`), has new ids throughout, and never
    touches the original. `unspool list --clones` lists the copies made. With --in-place there is no copy: the same is
    proven and put in the place of the session's own log, branches that were left go, and the log as it was is kept
    beside the archive until `--undo` gives it back. A session that is open in its agent is refused.
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
    from unspool.copies.treatment import preset

    if how["in_place"] and output.path is not None:
        raise UsageProblem("Either --in-place or -o.")
    wanted = {**chosen, **({"fit": how["fit"]} if how["fit"] else {})}
    request = CopyRequest(title=output.title, in_place=how["in_place"], options=wanted)
    figures = {name: value for name, value in chosen.items() if name != "preset"}
    treatment = replace(preset(chosen["preset"], settings.chosen_presets()), **figures)
    with open_source(library, session) as source:
        material = CopyMaterial(source.log)
        if how["fit"]:
            treatment = mildest_fit(material, treatment, room_for_conversation(how["fit"], window_of(source.log)))
        plan, done = plan_copy(material, treatment, request), None
        if how["compressing"] is not None:
            done = compress_copy(plan, how["compressing"], library, dry_run=output.dry_run)
        if done is not None:
            chosen = {**request.options, "compress": str(how["compressing"].bands)}
            plan = plan_copy(material, treatment, replace(request, texts=done.texts, options=chosen))
        if how["in_place"]:
            copy_options.finish_in_place(plan, source, output)
        else:
            copy_options.finish_copy(plan, source, output)
        if done is not None:
            tell_compressed(done, plan.copy.making.session)


def _undo(session: str, output: copy_options.CopyOutput, *, force: bool) -> None:
    from unspool.copies import in_place, records

    edit = in_place.find_edit(session)
    made = next((one.made for one in records.copy_records() if one.session.startswith(session)), "")
    if edit is not None and edit.made >= made:
        if not output.dry_run:
            in_place.undo_edit(edit, force=force)
        word = "Would give back" if output.dry_run else "Gave back"
        told = {"session": edit.session, "restored": edit.path, "dry_run": output.dry_run}
        print_result(told, [f"{word} {edit.path}"], as_json=output.as_json)
        return
    record = records.find_record(session)
    gone = [Path(one.path) for one in record.files] if output.dry_run else records.undo_copy(record, force=force)
    removed, word = list(map(str, gone)), "Would remove" if output.dry_run else "Removed"
    data = {"session": record.session, "removed": removed, "dry_run": output.dry_run}
    print_result(data, (f"{word} {path}" for path in removed), as_json=output.as_json)
