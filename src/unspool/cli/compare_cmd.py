"""`unspool compare`: two sessions, or two branches of one, beside each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import Column, cut_text, print_heading, print_json, print_nodes, print_table, safe_text
from unspool.errors import NotFound

if TYPE_CHECKING:
    from unspool.figures.compare import ComparedFile, ComparedSide, Comparison, Conversation
    from unspool.store.library import Library

_WORDS = 160
_TOOLS = 6


@click.command("compare")
@click.argument("one", metavar="SESSION[#BRANCH]")
@click.argument("other", metavar="SESSION[#BRANCH]")
@click.option("--diff", is_flag=True, help="Show files as one left them against the other.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the lines in which files differ.")
@options.sources
def command(one: str, other: str, diff: bool, as_json: bool, library: "Library") -> None:
    """Compare two sessions: where they part, and what each did from there.

    \b
    unspool compare 3f2a 9b1c          a session and its fork, or two attempts at one thing
    unspool compare 3f2a 3f2a#1        the live conversation and its first abandoned branch
    unspool compare 3f2a 9b1c --diff   with files as one left them against the other

    What each asked, did, changed and spent is told from where they part; what both have in common from the beginning
    is counted in neither. Files are known as far as the logs tell; what they do not tell is said.
    """
    from unspool.figures.compare import compare_conversations

    found = compare_conversations(_conversation(library, one), _conversation(library, other), library.prices)
    if as_json:
        print_json(found)
        return
    _print(found)
    if diff:
        print_nodes((file.diff for file in found.files if file.diff is not None), pager=False)


def _conversation(library: "Library", name: str) -> "Conversation":
    from unspool.figures.compare import Conversation
    from unspool.render.view import follow_branch

    called, _, number = name.rpartition("#")
    branch = int(number) if called and number.isdecimal() and len(number) < 7 else 0
    session = library.open(called if branch or (called and number == "0") else name)
    if branch and branch not in {one.number for one in session.branches}:
        raise NotFound(
            f"{session.id} has no branch {branch}; it has {human.count(len(session.branches), 'branch', 'branches')}."
        )
    return Conversation(session, follow_branch(session, branch)[0], branch)


def _print(found: "Comparison") -> None:
    one, other = found.sides
    if found.shared:
        words = safe_text(cut_text(" ".join(found.parted.split()), _WORDS))
        click.echo(f"Both have {human.count(found.shared, 'prompt')} in common, the last: {words}\n")
    else:
        click.echo("They have nothing in common from the beginning.\n")
    rows = [*zip(_facts(one), _facts(other), strict=True)]
    shown = [(name, mine, theirs) for (name, mine), (_, theirs) in rows if mine or theirs]
    names, mine, theirs = zip(*shown, strict=True)
    print_table(
        [
            Column("", list(names), right=False, least=8),
            Column(_name(one), list(mine), right=False, least=24),
            Column(_name(other), list(theirs), right=False, least=24),
        ]
    )
    if found.files:
        print_heading("Files")
        print_table(
            [
                Column("file", [file.path for file in found.files], right=False, least=20, tail=True),
                Column(_name(one), [_changed(file, 0) for file in found.files]),
                Column(_name(other), [_changed(file, 1) for file in found.files]),
                Column("left", [_left(file, found.sides) for file in found.files], right=False),
            ]
        )
    for side in found.sides:
        print_heading(f"Asked in {_name(side)}")
        for prompt in side.prompts:
            click.echo(safe_text(f"  {prompt.number:>3}  {cut_text(' '.join(prompt.words.split()), _WORDS)}"))
        if not side.prompts:
            click.echo("  nothing more")


def _name(side: "ComparedSide") -> str:
    name = safe_text(side.session[:8])
    return f"{name}#{side.branch}" if side.branch else name


def _facts(side: "ComparedSide") -> Iterator[tuple[str, str]]:
    yield "title", safe_text(cut_text(side.title, 60))
    yield "agent", side.agent
    yield "took", human.elapsed(side.started, side.ended)
    yield "prompts", f"{len(side.prompts):,}"
    calls = sum(side.tools.values())
    yield "calls", human.joined(f"{calls:,}", f"{side.failed} failed" if side.failed else "")
    yield "", safe_text(", ".join(f"{name} {number}" for name, number in list(side.tools.items())[:_TOOLS]))
    yield "tokens", human.tokens(side.usage.total)
    yield "cost", human.money(side.cost.amount, floor=side.cost.floor, unpriced=bool(side.cost.unpriced))
    added, removed = sum(file.added for file in side.files), sum(file.removed for file in side.files)
    yield "files", f"{len(side.files)}, +{added:,} −{removed:,}" if side.files else ""
    yield "commits", ", ".join(commit.hash[:10] for commit in side.commits)
    yield "last tests", side.tests
    yield "last words", safe_text(cut_text(" ".join(side.answer.split()), 60))


def _changed(file: "ComparedFile", side: int) -> str:
    change = file.sides[side]
    return f"+{change.added:,} −{change.removed:,}" if change is not None else ""


def _left(file: "ComparedFile", sides: "tuple[ComparedSide, ComparedSide]") -> str:
    if None in file.sides:
        return f"only {_name(sides[file.sides[0] is None])}"
    if file.same is None:
        return "not known"
    if file.same:
        return "the same"
    return f"+{file.diff.added:,} −{file.diff.removed:,} apart" if file.diff is not None else "differs"
