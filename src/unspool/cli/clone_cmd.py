"""`unspool clone`: a lighter copy of a session that the agent can resume."""

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import cloning, keeping, options
from unspool.cli.compressing import compressed, compressions, tell
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.clone.treatment import Treatment
    from unspool.library import Library

_FIGURES = {
    "keep_tool_turns", "truncate", "truncate_lines", "truncate_chars", "strip_tools", "strip_thinking", "mode",
    "drop_images", "drop_snapshots", "drop_side", "drop_compacted",
}  # fmt: skip
_CHOOSING = _FIGURES - {"truncate", "truncate_lines", "truncate_chars", "mode"}
"""Figures that say by themselves what goes, so that no preset is taken for granted; the others only refine one."""


def treatments(command: options.Command) -> options.Command:
    """The options that make a `treatment` and `chosen`, what was said of it."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        from msgspec.structs import replace

        from unspool.cli import chosen
        from unspool.clone.treatment import preset

        name = given.pop("preset")
        figures = {key: given.pop(key) for key in _FIGURES}
        said = {key: value for key, value in figures.items() if value is not None and value is not False}
        name = name or ("none" if _CHOOSING & said.keys() else "default")
        treatment = replace(preset(name, chosen.presets()), **said)
        return command(*args, treatment=treatment, chosen={"preset": name, **said}, **given)

    made: options.Command = run
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


_OPTIONS = (
    click.option("--preset", metavar="NAME", help="default, aggressive, heavy, extreme, none, or one of your own."),
    click.option(
        "--keep-tool-turns", type=click.IntRange(min=0), metavar="N", help="The newest N turns keep their tools."
    ),
    click.option(
        "--truncate", callback=cloning.percent, metavar="PERCENT", help="Of these, the oldest share is truncated."
    ),
    click.option("--truncate-lines", type=click.IntRange(min=1), metavar="N", help="Lines left where truncated [2]."),
    click.option(
        "--truncate-chars", type=click.IntRange(min=1), metavar="N", help="Characters left where truncated [120]."
    ),
    click.option(
        "--strip-tools", callback=cloning.percent, metavar="PERCENT", help="Strip the oldest share of all turns."
    ),
    click.option(
        "--strip-thinking", callback=cloning.percent, metavar="PERCENT", help="The oldest share loses its reasoning."
    ),
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
@treatments
@click.option(
    "--fit", type=click.IntRange(min=1), metavar="TOKENS", help="The mildest treatment that fits into so many."
)
@click.option("--undo", is_flag=True, help="Take a copy back: SESSION is the copy's id, else the last one made.")
@click.option("--force", is_flag=True, help="With --undo: though the copy was gone on with.")
@compressions
@cloning.outputs
@options.sources
def command(
    session: str, treatment: "Treatment", chosen: dict[str, Any], output: cloning.Output, library: "Library", **how: Any
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

    from unspool.clone.advice import window_of
    from unspool.clone.draught import Wish, drawn
    from unspool.clone.fit import fitted, room
    from unspool.clone.material import Material
    from unspool.clone.source import opened

    wish = Wish(title=output.title, options={**chosen, **({"fit": how["fit"]} if how["fit"] else {})})
    with opened(library, session) as source:
        material = Material(source.log)
        if how["fit"]:
            treatment = fitted(material, treatment, room(how["fit"], window_of(source.log)))
        draught, done = drawn(material, treatment, wish), None
        if how["compressing"] is not None:
            done = compressed(draught, how["compressing"], library, dry_run=output.dry_run)
        if done is not None:
            said = {**wish.options, "compress": str(how["compressing"].bands)}
            draught = drawn(material, treatment, replace(wish, texts=done.outcome.texts, options=said))
        cloning.finish(draught, source, output)
        if done is not None:
            tell(done, draught.copy.making.session)


def _undo(session: str, output: cloning.Output, *, force: bool) -> None:
    from unspool.clone import lineage

    record = lineage.find(session)
    if output.dry_run:
        removed = [one.path for one in record.files]
    else:
        removed = [str(path) for path in lineage.undo(record, force=force)]
    if output.as_json:
        keeping.print_json({"session": record.session, "removed": removed, "dry_run": output.dry_run})
        return
    word = "Would remove" if output.dry_run else "Removed"
    for path in removed:
        keeping.say(f"{word} {path}")
