"""`unspool story`: all sessions, plans and attempts that led to a commit, a branch or a pull request."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import fresh, options, output, settings
from unspool.cli.output import cut_text, print_json, print_result, progress, safe_text
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from unspool.agents import FoundLog
    from unspool.figures.change_story import ChangeName, ChangeStep, ChangeStory
    from unspool.store.library import Library
    from unspool.store.library.change_story import StorySessions

_PROMPTS = 5


@click.command("story")
@click.argument("change", metavar="COMMIT|BRANCH|URL")
@click.option("-p", "--project", "projects", multiple=True, metavar="TEXT", help="Only projects whose path holds this.")
@click.option("-o", "--output", "path", type=options.PATH, metavar="FILE", help="Write it as one page, redacted.")
@click.option("--no-redact", is_flag=True, help="With -o: leave everything in; for your eyes alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def command(change: str, path: Path | None, archive: Path, as_json: bool, no_sync: bool, **given: Any) -> None:
    """Tell the story of a change: every session that led to it.

    \b
    unspool story 04ef02a                     the commit, by as much of its hash as tells it apart
    unspool story HEAD                        a commit of the repository of this folder
    unspool story fix/tides                   all that was done on a branch
    unspool story https://github.com/o/r/pull/12
    unspool story o/r#12 -o story.html        as one page to send, without what must not leave

    Told are the sessions that made it, those that planned it or that it was copied from, and attempts that changed
    the same files before and committed nothing. A commit that was rebased is known by its message, where this folder
    is in its repository. What is new is kept first, in your usual archive (--no-sync leaves that out). Ends with 3
    where no session made such a change.
    """
    if given["no_redact"] and path is None:
        raise UsageProblem("--no-redact says something of a page: add -o.")
    fresh.keep_fresh(archive, no_sync=no_sync)
    library = options.kept_library(archive)
    name, sessions = _find(library, archive, change, given["projects"])
    from unspool.figures.change_story import tell_change

    if path is not None and not given["no_redact"]:
        story, note = _redacted(library, name, sessions)
    else:
        story, note = tell_change(name, sessions, library.prices), ""
    if path is not None:
        from unspool.files import write_atomically
        from unspool.site.change_page import change_page
        from unspool.site.options import SiteOptions

        made = change_page(story, SiteOptions(self_contained=True), note)
        write_atomically(path, [made.encode("utf-8", "replace")])
        print_result({"path": str(path), "note": note}, [human.joined(str(path), note)], as_json=as_json)
    elif as_json:
        print_json(story)
    else:
        _print(story)


def _find(
    library: "Library", archive: Path, change: str, wanted: tuple[str, ...]
) -> "tuple[ChangeName, StorySessions]":
    from unspool.store.index.git_work import TRUNKS, parse_change
    from unspool.store.library import session_opener
    from unspool.store.library.change_story import find_change, story_sessions

    name, folder = parse_change(change), str(Path.cwd())
    with options.open_index(archive) as index:
        try:
            rows = find_change(index.db, name, wanted, folder)
        except NotFound:
            commit = _git_commit(change) if change == "HEAD" or change not in TRUNKS else None
            if name.kind == "pull request" or commit is None:
                raise
            name = commit
            rows = find_change(index.db, name, wanted, folder)
    return name, story_sessions(rows, session_opener(library))


def _git_commit(change: str) -> "ChangeName | None":
    """The commit that the repository of this folder calls so."""
    from unspool.figures.change_story import ChangeName
    from unspool.store.library.git_repository import GitRepository

    repository = GitRepository.around(Path.cwd())
    found = repository.commit(change) if repository is not None else None
    return ChangeName("commit", found.hash, message=found.subject) if found is not None else None


def _redacted(library: "Library", name: "ChangeName", sessions: "StorySessions") -> "tuple[ChangeStory, str]":
    """The story told by the sessions as they would be shared, everything found in them replaced; and how that was."""
    from unspool.figures.change_story import tell_change, with_figures
    from unspool.share.choices import ShareSettings, load_choices
    from unspool.share.prepare import prepare_shares, work_of

    reasons = {session.id: why for session, why in sessions}
    logs = {(log.agent_id, log.session_id): log for log in library.logs() if log.session_id in reasons}
    named = ((session.agent, session.id) for session, _ in sessions)
    found: list[str | FoundLog] = [logs[name] for name in named if name in logs]
    with progress(work_of(found), "Looking for secrets") as advance:
        asked = ShareSettings(load_choices, options.redaction_rules(), rehearsed=True, advance=advance)
        with prepare_shares(library, found, asked) as share:
            told = [(one.session, reasons.get(one.session.id, ())) for one in share.all]
            story = with_figures(tell_change(name, told, library.prices), tell_change(name, sessions, library.prices))
            return story, f"redacted: {share.report.note()}"


def _print(story: "ChangeStory") -> None:
    colour, zone = output.has_colours(), settings.chosen_zone()
    cost = human.money(story.cost.amount, floor=story.cost.floor, unpriced=bool(story.cost.unpriced))
    sessions = human.count(len(story.steps), "session")
    facts = human.joined(
        sessions, human.elapsed(story.started, story.ended), f"{human.tokens(story.tokens)} tokens", cost
    )
    click.echo(f"{click.style(safe_text(story.title), bold=True)}  {click.style(facts, dim=True)}", color=colour)
    for line in (*(pull.url for pull in story.pulls), *(f"{one.hash[:10]}  {one.message}" for one in story.commits)):
        click.echo(
            click.style(f"  {cut_text(safe_text(line), output.terminal_width() - 2)}", fg="yellow"), color=colour
        )
    for step in story.steps:
        _print_step(step, human.minute(step.started, zone) or "without a time")


def _print_step(step: "ChangeStep", when: str) -> None:
    from unspool.agents import agent_name
    from unspool.site.change_page import change_role

    colour, width = output.has_colours(), output.terminal_width()
    role, tone = change_role(step)
    shade = {"good": "green", "warn": "yellow", "plan": "magenta"}.get(tone, "blue")
    title = click.style(cut_text(safe_text(step.title), max(20, width - 40)), bold=True)
    click.echo(f"\n{when}  {click.style(role, fg=shade)}  {title}", color=colour)
    for prompt in step.prompts[:_PROMPTS]:
        click.echo(cut_text(safe_text(f"  {prompt.number:>3}  {' '.join(prompt.words.split())}"), width))
    if (more := len(step.prompts) - _PROMPTS) > 0:
        click.echo(click.style(f"       and {human.count(more, 'prompt')} more", dim=True), color=colour)
    for plan in step.plans:
        click.echo(safe_text(f"       plan, {plan.status}: {plan.title}"))
    for prompt in step.left:
        click.echo(cut_text(safe_text(f"       tried and left: {' '.join(prompt.words.split())}"), width))
    lines = f"{human.count(step.files, 'file')} +{step.added:,} −{step.removed:,}" if step.files else ""
    cost = human.money(step.cost.amount, floor=step.cost.floor, unpriced=bool(step.cost.unpriced))
    tests = f"last tests {step.tests}" if step.tests else ""
    commits = human.count(len(step.commits), "commit") if step.commits else ""
    facts = human.joined(step.session[:8], agent_name(step.agent), lines, commits, tests, cost)
    click.echo(click.style(f"       {safe_text(facts)}", dim=True), color=colour)
