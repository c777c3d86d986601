"""A hub that means harm: what its answers can do to whoever asks it."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.hub_client.test_client import Script, script
from tests.log_builder.builder import LogBuilder
from unspool.errors import FetchFailed, UnspoolError
from unspool.hub_client.push import Pusher, PushMemory, PushTask
from unspool.store.library import Library

__all__ = ["script"]


@pytest.mark.parametrize("body", [b'"\xff\xfe"', b"[" * 200_000, b'{"a":' * 100_000, b"\x00", b'"' + b"x" * 100])
@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_an_answer_that_cannot_be_read_is_an_error_of_ours(script: Script, status: int, body: bytes) -> None:
    script.answers = [(status, body, {})]
    with closing(script.client()) as client, pytest.raises(UnspoolError):
        client.ask("GET", "/api/me")


def test_a_token_follows_nobody_elsewhere(script: Script) -> None:
    for status in (301, 302, 303, 307, 308):
        script.answers = [(status, b"", {"Location": f"http://127.0.0.1:{script.port}/elsewhere"})]
        with closing(script.client()) as client, pytest.raises(FetchFailed):
            client.ask("GET", "/api/me")
    assert [path for _, path, _, _ in script.seen] == ["/team/api/me"] * 5


def test_an_answer_of_any_size_is_read_no_further_than_it_should_be(script: Script) -> None:
    script.answers = [(200, b" " * (65 * 1024 * 1024), {})]
    with closing(script.client()) as client, pytest.raises(FetchFailed):
        client.ask("GET", "/api/me")


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b"{}", b'{"lacks": 1}', b'{"lacks": [1]}', b'{"lacks": "abc"}', b'{"lacks": {"a": 1}}']
)
def test_a_push_to_what_is_no_hub_ends_with_a_sentence(script: Script, tmp_path: Path, body: bytes) -> None:
    log = LogBuilder(session_id="11111111-2222-4333-8444-555555555555", cwd="/srv/tidewater")
    log.prompt("hello").assistant(log.text("Hello.")).write(tmp_path / "agent")
    library = Library((tmp_path / "agent",))
    (found,) = library.logs()
    script.answers = [(200, b"{}", {}), (200, body, {})]
    with closing(script.client()) as client, pytest.raises(FetchFailed):
        Pusher(client, library, PushMemory(tmp_path / "push", "hub"), b"k" * 32).push(PushTask(found, "harbour"))


def test_what_a_hub_says_cannot_drive_a_terminal(script: Script, tmp_path: Path) -> None:
    evil = b"told \\u001b]0;owned\\u0007\\u009b31m"
    share = b'{"address": "AAAAAAAAAAAAAAAAAAAAAA", "url": "https://x/' + evil + b'", "title": "' + evil + b'"}'
    answers: list[tuple[int, bytes, dict[str, str]]] = [
        (403, b'{"reason": "' + evil + b'"}', {}),
        (200, b'{"shares": [' + share + b"]}", {}),
    ]
    hub = f"http://127.0.0.1:{script.port}"
    env = {**os.environ, "UNSPOOL_HUB": hub, "UNSPOOL_HUB_TOKEN": "uns_secret", "HOME": str(tmp_path)}
    for answer in answers:
        script.answers = [answer]
        command = [sys.executable, "-m", "unspool", "shares"]
        done = subprocess.run(command, env=env, capture_output=True, timeout=60, check=False)
        assert b"told" in done.stdout + done.stderr
        assert not any(mark in done.stdout + done.stderr for mark in (b"\x1b", b"\x07", b"\xc2\x9b"))
        assert b"uns_secret" not in done.stdout + done.stderr
