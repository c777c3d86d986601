"""Both dialects ask properly, and every kind of bad answer is told for what it is."""

import json
import socket
from threading import Event
from typing import Any

import pytest

from tests.copies.compress.model import KEY, model
from unspool.copies.compress.providers import Anthropic, Endpoint, ModelFailed, ModelRefused, ModelRequest, OpenAi
from unspool.errors import UsageProblem

ASK = ModelRequest("Do this.", json.dumps({"text": "one two three four five six"}), 300)
BOTH = pytest.mark.parametrize("dialect", [OpenAi, Anthropic])


def ask(dialect: type[Endpoint], base: str, seconds: float = 5.0) -> str:
    return dialect(base, "house-model", KEY).ask(ASK, seconds, Event())


def test_the_one_dialect_is_spoken() -> None:
    with model() as server:
        assert json.loads(ask(OpenAi, f"{server.address}/v1/")) == {"text": "one two three four"}
    heard = server.heard[0]
    assert heard.path == "/v1/chat/completions"
    assert heard.headers["authorization"] == f"Bearer {KEY}"
    assert heard.body["model"] == "house-model"
    assert [message["role"] for message in heard.body["messages"]] == ["system", "user"]
    assert heard.body["messages"][0]["content"] == ASK.system


@pytest.mark.parametrize("end", ["", "/", "/v1"])
def test_the_other_dialect_is_spoken(end: str) -> None:
    """Wherever the address ends; only blocks of text are an answer."""
    with model() as server:
        assert json.loads(ask(Anthropic, server.address + end)) == {"text": "one two three four"}
    heard = server.heard[0]
    assert heard.path == "/v1/messages"
    assert heard.headers["x-api-key"] == KEY
    assert heard.headers["anthropic-version"] == "2023-06-01"
    assert heard.body["max_tokens"] == 300
    assert heard.body["system"] == ASK.system
    assert [message["role"] for message in heard.body["messages"]] == ["user"]


def test_without_a_key_none_is_sent() -> None:
    with model() as server:
        for dialect in (OpenAi, Anthropic):
            dialect(server.address, "house-model", "").ask(ASK, 5.0, Event())
    assert all({"authorization", "x-api-key"}.isdisjoint(heard.headers) for heard in server.heard)


@BOTH
@pytest.mark.parametrize("code", [408, 429, 500, 503, 529])
def test_a_service_in_trouble_is_asked_again(dialect: type[Endpoint], code: int) -> None:
    with model((code, {}, "busy")) as server, pytest.raises(ModelFailed, match=f"answered {code}: busy") as caught:
        ask(dialect, server.address)
    assert caught.value.again
    assert (caught.value.pause is not None) == (code == 429)


@BOTH
def test_a_pause_is_as_long_as_the_service_says(dialect: type[Endpoint]) -> None:
    with model((429, {"Retry-After": "7"}, ""), (503, {"Retry-After": "3"}, "")) as server:
        for seconds in (7.0, 3.0):
            with pytest.raises(ModelFailed) as caught:
                ask(dialect, server.address)
            assert caught.value.pause == seconds


@BOTH
@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_request_that_is_not_liked_is_not_repeated(dialect: type[Endpoint], code: int) -> None:
    with model((code, {}, "too long")) as server, pytest.raises(ModelFailed, match="too long") as caught:
        ask(dialect, server.address)
    assert not caught.value.again


@BOTH
@pytest.mark.parametrize("code", [401, 402, 403, 404, 201])
def test_a_service_that_wants_none_of_it_is_refused(dialect: type[Endpoint], code: int) -> None:
    with model((code, {}, "no such model")) as server, pytest.raises(ModelRefused, match=f"answered {code}"):
        ask(dialect, server.address)


@BOTH
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(dialect: type[Endpoint], code: int) -> None:
    """The key and the passage are for the one host that was named."""
    with model() as other, model((code, {"Location": other.address}, "")) as server, pytest.raises(ModelRefused):
        ask(dialect, server.address)
    assert other.heard == []


GARBAGE = {
    "nothing": b"",
    "markup": b"<html>",
    "empty": b"{}",
    "list": b"[]",
    "number": b'{"choices": 7, "content": 7}',
    "error": b'{"error": {"message": "no"}}',
    "bytes": b"\xff\xfe",
    "null": b'{"choices": [{"message": {"content": null}}], "content": null}',
    "deep": b"[" * 100_000,
}


@BOTH
@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_a_failure(dialect: type[Endpoint], body: bytes) -> None:
    with model(body) as server, pytest.raises(ModelFailed, match="something else"):
        ask(dialect, server.address)


@BOTH
@pytest.mark.parametrize("way", ["hang", "trickle"])
def test_no_answer_takes_longer_than_its_time(dialect: type[Endpoint], way: str) -> None:
    """Neither silence nor a drop now and then."""
    with model(way) as server, pytest.raises(ModelFailed, match=r"timed out|too long"):
        ask(dialect, server.address, 0.4)


@BOTH
@pytest.mark.parametrize("way", ["reset", "cut"])
def test_a_broken_connection_is_a_failure(dialect: type[Endpoint], way: str) -> None:
    with model(way) as server, pytest.raises(ModelFailed, match=r"could not be reached|broke off"):
        ask(dialect, server.address)


def test_nobody_there_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ModelFailed, match="could not be reached"):
        ask(OpenAi, f"http://127.0.0.1:{port}")


@BOTH
@pytest.mark.parametrize("base", ["http://example.org/v1", "ftp://127.0.0.1", "example.org", "https://", "file:///etc"])
def test_a_key_goes_nowhere_in_the_open(dialect: type[Endpoint], base: str) -> None:
    with pytest.raises(UsageProblem, match="no https"):
        dialect(base, "house-model", KEY)


@BOTH
def test_what_a_service_says_is_inert_and_without_the_key(dialect: type[Endpoint]) -> None:
    """Some repeat the key; its words are shown to a person on a terminal."""
    said = f"wrong key {KEY}\x1b[2J\nsecond " + "x" * 1000
    with model((401, {}, said)) as server, pytest.raises(ModelRefused) as caught:
        ask(dialect, server.address)
    words = str(caught.value)
    assert "wrong key (key) second" in words
    assert "\x1b" not in words
    assert len(words) < 300


@BOTH
def test_the_key_is_not_shown(dialect: type[Endpoint]) -> None:
    made: Any = dialect("https://example.org", "house-model", KEY)
    assert KEY not in f"{made!r} {made} {made.name}"
    assert made.name == "example.org"


def test_a_proxy_does_not_see_what_is_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local model is asked directly, whatever the environment says."""
    with model() as proxy, model() as server:
        monkeypatch.setenv("http_proxy", proxy.address)
        ask(OpenAi, server.address)
    assert (len(proxy.heard), len(server.heard)) == (0, 1)
