"""How a command ends: one sentence and its exit code, whatever went wrong."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest

from tests.cli.running import finished, run, source, talk
from unspool.cli.group import cli

SENTENCE = re.compile(r"unspool: [^\n]+[.:]\n")


@pytest.mark.parametrize("command", ["info", "show", "export"])
def test_no_such_session(command: str) -> None:
    """A name that nothing has ends with 3."""
    done = run(command, "no such thing", "--demo")
    assert (done.code, done.out) == (3, "")
    assert SENTENCE.fullmatch(done.err)
    assert "no such thing" in done.err


@pytest.mark.parametrize("name", ["/no/such/log.jsonl", "there-is-none.jsonl", "no/such"])
def test_no_such_file(name: str) -> None:
    """A path that leads nowhere ends with 3."""
    done = run("show", name)
    assert done.code == 3
    assert re.fullmatch(rf"unspool: There is no file {name}\.\n", done.err)


def test_no_such_source() -> None:
    """A source that is not there ends with 3, for every command."""
    for command in ("list", "info", "show"):
        done = run(command, "--source", "/no/such/folder")
        assert done.code == 3
        assert done.err == "unspool: There is no folder /no/such/folder.\n"


def test_nothing_to_show(tmp_path: Path) -> None:
    """Asking for a session where there are none ends with 3 and points to the demo."""
    done = run("show", *source(tmp_path))
    assert done.code == 3
    assert "--demo" in done.err


def test_an_ambiguous_start(tmp_path: Path) -> None:
    """Several ids with that start end with 4, each listed whole with its title."""
    names = ["abc00000-0000-4000-8000-000000000001", "abc11111-0000-4000-8000-000000000001"]
    given = source(tmp_path, talk("First of two", names[0]), talk("Second of two", names[1]))
    done = run("show", "abc", *given)
    assert (done.code, done.out) == (4, "")
    lines = done.err.splitlines()
    assert lines[0] == "unspool: 2 sessions begin with “abc”:"
    assert {line.split()[0] for line in lines[1:]} == set(names)


def test_an_ambiguous_title() -> None:
    """Several titles with those words end with 4, each listed."""
    done = run("show", "the", "--demo")
    assert (done.code, done.out) == (4, "")
    first, *rest = done.err.splitlines()
    assert re.fullmatch(r"unspool: 4 sessions have “the” in their title:", first)
    assert len(rest) == 4


def test_candidates_are_inert(tmp_path: Path) -> None:
    """A title in an error message is as harmless as in a list."""
    logs = [talk(f"boom \x1b[2J\x1b]0;x\x07 {number}", f"{number}" * 8) for number in range(2)]
    done = run("show", "boom", *source(tmp_path, *logs))
    assert done.code == 4
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.err)


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    """A folder named as a session ends with 5 and says what to do."""
    done = run("show", str(tmp_path))
    assert done.code == 5
    assert re.fullmatch(r"unspool: .* is a folder; name a log in it, or use --source .*\.\n", done.err)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not stop this user")
def test_a_log_without_permission(tmp_path: Path) -> None:
    """A log that may not be read ends with 5; the list has the others and names it."""
    given = source(tmp_path, talk("Open"), talk("Shut", "5" * 8))
    shut = next(tmp_path.rglob("55555555.jsonl"))
    shut.chmod(0)
    done = run("show", str(shut))
    assert done.code == 5
    assert SENTENCE.fullmatch(done.err)
    listed = run("list", *given)
    assert listed.code == 0
    assert "Open" in listed.out
    assert "55555555" in listed.err


def test_a_damaged_archive(tmp_path: Path) -> None:
    """A file that begins as gzip and is none ends with 5."""
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 not really")
    done = run("show", str(path))
    assert done.code == 5
    assert SENTENCE.fullmatch(done.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("bogus",),
        ("list", "--bogus"),
        ("list", "--since", "yesterday"),
        ("list", "-k", "odd"),
        ("list", "-n", "-1"),
        ("show", "--turn", "x"),
        ("show", "--turn", "7..3"),
        ("show", "--width", "3"),
        ("export",),
        ("export", "latest", "-f", "odt"),
        ("completion", "tcsh"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line(arguments: tuple[str, ...]) -> None:
    """What cannot be meant ends with 2, nothing printed, what is wrong on standard error."""
    done = run(*arguments, *(() if arguments[0] in {"bogus", "completion"} else ("--demo",)))
    assert (done.code, done.out) == (2, "")
    assert done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["--kind", "-k"])
def test_the_kinds_are_named(name: str) -> None:
    """A kind that is none names those there are, and no empty one."""
    done = run("list", name, "odd", "--demo")
    assert "'stub'" in done.err
    assert "''" not in done.err


def test_the_same_as_a_real_process() -> None:
    """A process ends with the same codes and says the same."""
    for arguments in (("show", "nothing like it", "--demo"), ("show", "the", "--demo"), ("bogus",), ("list", "--demo")):
        real, inside = finished(*arguments), run(*arguments)
        assert real.code == inside.code
        assert real.err.splitlines()[-1:] == inside.err.splitlines()[-1:]


def with_json(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command that has `--json`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from with_json(command, (*path, name))
        if any("--json" in param.opts for param in command.params):
            yield (*path, name)


def failure(*arguments: str) -> dict[str, Any]:
    """What the last line of standard error tells, and that nothing was answered."""
    done = run(*arguments)
    told: dict[str, Any] = json.loads(done.err.splitlines()[-1])["error"]
    assert (done.out, told["code"]) == ("", done.code)
    return told


@pytest.mark.parametrize("path", sorted(with_json(cli)), ids=" ".join)
def test_a_wrong_option_is_told_as_json_where_json_is_asked_for(path: tuple[str, ...]) -> None:
    """By every command; those that erase take whatever word for what shall go, and there is no hub."""
    told = failure(*path, "--json", "--no-such-option")
    code, kind, word = (
        (3, "NotFound", "hub")
        if path[1:2] == ("erase",) and path[2:] != ("list",)
        else (2, "UsageProblem", "--no-such-option")
    )
    assert (told["code"], told["kind"]) == (code, kind)
    assert word in told["message"]
    assert told["place"] == " ".join(("unspool", *path))


def test_failures_are_told_as_json_where_json_is_asked_for(tmp_path: Path) -> None:
    """With code, kind, message and place, on one line that a terminal survives; without `--json`, as a sentence."""
    logs = [talk(f"boom \x1b[2J {number}", f"{number}" * 8) for number in range(2)]
    where = source(tmp_path / "logs", *logs)
    assert failure("info", "nothing", "--json", *where)["kind"] == "NotFound"
    several = failure("info", "boom", "--json", *where)
    assert (several["kind"], several["code"], several["place"]) == ("Ambiguous", 4, "unspool info")
    assert "\x1b" not in run("info", "boom", "--json", *where).err
    assert failure("list", "--json", "--since", "noon")["place"] == "unspool list --since"
    assert SENTENCE.fullmatch(run("info", "nothing", *where).err)
    assert run("search", "-s", str(tmp_path / "logs"), "--", "--json").err == "Nothing was found.\n"


def test_what_the_system_refuses_names_the_file(tmp_path: Path) -> None:
    with mock.patch("unspool.cli.agents_cmd.print_json", side_effect=PermissionError(13, "Permission denied", "/a/b")):
        told = failure("agents", "--json")
    assert told == {
        "code": 1,
        "kind": "UnspoolError",
        "message": "Permission denied: /a/b.",
        "place": "unspool agents /a/b",
    }


def test_what_was_stopped_says_so() -> None:
    with mock.patch("unspool.cli.agents_cmd.print_json", side_effect=KeyboardInterrupt):
        assert failure("agents", "--json")["code"] == 130
    with mock.patch("unspool.cli.agents_cmd.print_json", side_effect=click.Abort):
        assert failure("agents", "--json")["kind"] == "Interrupted"
