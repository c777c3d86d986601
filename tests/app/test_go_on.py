"""Ways to go on with a session: the commands that its page offers are commands that work."""

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.made_up import SESSION, MadeUp, write_tale
from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of, get
from tests.cli.running import run
from unspool.agents import AGENTS


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


def _commands(page: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'data-copy="([^"]+)"', page)]


def test_every_command_that_is_offered_works(app: str) -> None:
    commands = [one for one in _commands(get(f"{app}/s/{STORM}/resume").text) if one.startswith("unspool ")]
    assert {shlex.split(one)[1] for one in commands} == {"fork", "clone", "hand-over"}
    for one in commands:
        done = run(*shlex.split(one)[1:], "-n", "-s", str(demo_source()))
        assert done.code == 0, (one, done.err)


def test_the_command_of_a_turn_forks_there(app: str) -> None:
    (fork,) = re.findall(r'data-fork="([^"]+)"', get(f"{app}/s/{STORM}/").text)
    done = run(*shlex.split(fork)[1:], "--at", "3", "-n", "-s", str(demo_source()))
    assert done.code == 0, done.err


def test_what_a_lighter_copy_saves_is_told_alone(app: str) -> None:
    told = get(f"{app}/s/{STORM}/resume?part=lighter").text
    assert "saves" in told
    assert "<html" not in told


def test_an_agent_whose_logs_are_only_read_has_no_copies(tmp_path: Path) -> None:
    AGENTS.append(made_up := MadeUp())
    try:
        with served(desk_of(write_tale(tmp_path / "tales").parent)) as address:
            page = get(f"{address}/s/{SESSION}/").text
            assert "data-fork" not in page
            assert {shlex.split(one)[1] for one in _commands(page)} == {"hand-over"}
            assert get(f"{address}/s/{SESSION}/resume?part=lighter").text.strip() == ""
    finally:
        AGENTS.remove(made_up)
