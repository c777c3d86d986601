"""The commands, each loaded when it is called, and the one place where errors become exit codes."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import takewhile
from typing import Any, cast

import click

from unspool.cli import options
from unspool.errors import UnspoolError, UsageProblem

COMMANDS = (
    ("list", "List sessions or projects, newest first."),
    ("agents", "List the coding agents that were found, and what works for each."),
    ("info", "Tell what one session holds, used and cost."),
    ("context", "Tell what fills the window of a session, and what it cost."),
    ("requests", "List the requests that a log keeps whole, or show one of them exactly."),
    ("show", "Read a session in the terminal."),
    ("export", "Write sessions to files, for people and for other programs."),
    ("json", "Make a web page of one log or session."),
    ("local", "Choose a session and make a web page of it."),
    ("all", "Make a web site of all your sessions."),
    ("web", "Make a web page of a session that is kept on the web."),
    ("open", "Open the app: all sessions in the browser, kept up to date."),
    ("sync", "Keep everything new of your sessions, for good, and make it searchable."),
    ("watch", "Keep the archive up to date while sessions go on."),
    ("search", "Find what was said and done in any session."),
    ("context-files", "Tell what sessions ran under: instructions, settings, skills, plans, memories."),
    ("file", "Tell how a file changed over all sessions, and which prompts led to it."),
    ("scan", "Find sessions to look at: tests claimed, unclean ends."),
    ("blame", "Tell who wrote each line of a file: session, prompt, agent, or a person."),
    ("commits", "List commits with their sessions, agents' share of lines, and cost."),
    ("why", "Tell why a line is there: the prompt, and the words before the edit."),
    ("story", "Tell the story of a change: every session that led to it."),
    ("compare", "Compare two sessions: where they part, and what each did from there."),
    ("outline", "Tell a session prompt by prompt: what was asked, done and said last."),
    ("solved", "Tell how an error was solved in earlier sessions."),
    ("mcp", "Answer agents that ask about past sessions, over MCP."),
    ("usage", "Tell what was used and what it cost."),
    ("stats", "Tell what your sessions add up to: models, tools, hours, files, cache."),
    ("sql", "Ask all sessions, in SQL."),
    ("lake", "Write sessions as Parquet tables, for any engine."),
    ("doctor", "Tell what is at risk, and how to mend it."),
    ("verify", "Prove that every byte of the archive is as it was."),
    ("restore", "Give the files of a session back, byte for byte."),
    ("forget", "Remove a session from the archive for good."),
    ("archive", "Tell about the archive; merge, encrypt, decrypt it."),
    ("recommend", "Tell how full a session is, and which treatment to choose."),
    ("clone", "Make a lighter copy of a session that the agent can resume."),
    ("fork", "Go on from an earlier point of a session, in a copy."),
    ("lint", "Tell what keeps a session from being resumed, line by line."),
    ("repair", "Write a copy of a damaged session that can be resumed."),
    ("move", "Let a session go on in another folder, of another user or on another machine."),
    ("hand-over", "Go on with a session in another agent."),
    ("import", "Take in a session that somebody sent, to read it or to go on with it here."),
    ("redact", "Tell what in a session must not leave: keys, passwords, names, addresses."),
    ("share", "Show a session to others, without what must not leave."),
    ("shares", "List what you share through a hub; change or delete it."),
    ("push", "Push your sessions to the archive of your team."),
    ("login", "Sign in to a hub, which later commands use."),
    ("logout", "Sign out of a hub: its token is forgotten here."),
    ("hub", "Run the hub of a team: shares, and an archive of everybody's sessions."),
    ("uninstall", "Take unspool off this machine; the archive stays."),
    ("schema", "Print the JSON Schema of exported sessions."),
    ("completion", "Print the shell completion script."),
)
"""Name and help line of every command; the module of that name holds it. Adding one is a file and a line here."""

_HOMES = {
    **dict.fromkeys(("json", "local", "web", "all"), "pages"),
    **dict.fromkeys(("login", "logout", "shares", "push"), "shares"),
    **dict.fromkeys(("schema", "completion"), "schema"),
    **dict.fromkeys(("context", "requests"), "context"),
    **dict.fromkeys(("info", "show"), "show"),
    **dict.fromkeys(("blame", "why"), "blame"),
    **dict.fromkeys(("outline", "solved"), "outline"),
    **dict.fromkeys(("sync", "watch", "doctor"), "sync"),
    **dict.fromkeys(("verify", "restore", "forget"), "restore"),
    **dict.fromkeys(("recommend", "fork", "lint", "repair", "move"), "copies"),
}
"""Commands that share a module, where each is called NAME_command."""


class Interrupted(UnspoolError):
    """Whoever ran the command ended it."""

    exit_code = 130


class LazyGroup(click.Group):
    """A group that imports a command only when it is called, so that help stays quick.

    `lines` are the names and help lines of its commands, `homes` the modules that hold several of them.
    """

    def __init__(self, *args: Any, lines: Sequence[tuple[str, str]], homes: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._lines, self._homes = lines, homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _ in self._lines]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in dict(self._lines):
            return None
        module = import_module(f"unspool.cli.{self._homes.get(cmd_name, cmd_name.replace('-', '_'))}_cmd")
        command: click.Command = getattr(module, f"{cmd_name}_command" if cmd_name in self._homes else "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self._lines)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from unspool.build_info import version_line

        click.echo(version_line())
        ctx.exit()


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    homes=_HOMES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="A SESSION is an id or its first characters, a path, a URL, a piece of its title, or `latest`.",
)
@options.serving
@click.option("-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version, and the commit that it was made of.")  # fmt: skip
@click.pass_context
def cli(ctx: click.Context, /, **serving: Any) -> None:
    """Read, find and export your Claude Code sessions.

    unspool reads the logs that Claude Code keeps under ~/.claude/projects and never writes there. Without a
    command it opens the app: all sessions in the browser, until Ctrl-C. Where nobody could press that, because
    what it prints goes to a pipe or a file, it lists the newest sessions instead, and ends; --port, --host,
    --no-browser or --read-only make it serve there too.
    """
    serve = any(serving.values())
    if ctx.invoked_subcommand is None:
        command = cli.get_command(ctx, "open" if serve or sys.stdout.isatty() else "list")
        if command is not None:
            ctx.invoke(command, **(serving if command.name == "open" else {}))
    elif serve:
        raise UsageProblem("--port, --host, --no-browser and --read-only are of `unspool open`, and stand after it.")


def run() -> int:
    """Run the command line; the exit code that the outcome has."""
    os.umask(0o077)  # whatever is written holds what an agent saw: it is the user's alone
    try:
        if "_UNSPOOL_COMPLETE" in os.environ:
            cli.main(prog_name="unspool")
        # what click's own main does, without its answer to a closed pipe, which is to fail
        with cli.make_context("unspool", sys.argv[1:]) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        if not _wants_json():
            error.show()
            return error.exit_code
        made = UsageProblem if error.exit_code == UsageProblem.exit_code else UnspoolError
        param = getattr(error, "param", None)
        return _fail(made(error.format_message()), "/".join(param.opts) if param is not None else "")
    except UnspoolError as error:
        return _fail(error)
    except (click.Abort, KeyboardInterrupt):
        return _fail(Interrupted("Stopped."))
    except BrokenPipeError:
        _drop_output()  # the reader of it (head, a pager) has seen enough
    except OSError as error:
        _drop_output()
        where = f": {error.filename}" if error.filename else ""
        return _fail(UnspoolError(f"{error.strerror or error}{where}."), str(error.filename or ""))
    return 0


def _drop_output() -> None:
    """Nothing more can be written: what waits to be must not fail again when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_json() -> bool:
    """Whether the command is asked for JSON, as far as that can be told where its arguments may be wrong."""
    return "--json" in takewhile(lambda word: word != "--", sys.argv[1:])


def _fail(error: UnspoolError, place: str = "") -> int:
    """Say what went wrong, on standard error, for standard output holds answers alone; gives the exit code.

    Names and titles from logs cannot drive the terminal. `place` is the option or file that it is about, where one is.
    """
    text = str(error)
    if _wants_json():
        import json

        about = {"code": error.exit_code, "kind": type(error).__name__, "message": text}
        text = json.dumps({"error": {**about, "place": " ".join(filter(None, (_command_path(), place)))}})
    elif not isinstance(error, Interrupted):  # who ends a command does not wait for modules to be loaded
        from unspool.render.sanitize import safe_lines

        text = "\n".join(safe_lines(f"unspool: {text}"))
    with suppress(OSError):
        click.echo(text, err=True)
    return error.exit_code


def _command_path() -> str:
    """The command that is run, with the groups that it is in."""
    path, command = ["unspool"], cast("click.Command", cli)
    for word in sys.argv[1:]:
        if not isinstance(command, click.Group):
            break
        if found := command.get_command(click.Context(command), word):
            path.append(word)
            command = found
    return " ".join(path)
