"""`unspool requests`: what was sent to the model, listed and shown exactly."""

import json

from tests.cli.running import FIRST_LIGHT, NIGHTLY, run


def test_requests_are_listed_with_turn_and_tokens() -> None:
    rows = json.loads(run("requests", NIGHTLY, "--demo", "--json").out)["requests"]
    assert [(row["turn"], row["messages"], row["tools"], row["complete"]) for row in rows] == [
        (1, 2, 2, True),
        (1, 4, 2, True),
    ]
    assert all(row["id"][:8] in run("requests", NIGHTLY, "--demo").out for row in rows)


def test_one_request_is_shown_whole() -> None:
    done = run("requests", NIGHTLY, "--demo", "--turn", "1")
    assert done.code == 0
    for words in (
        "You look after the tide tables",
        "Search the contents of files.",
        "2026-10-16",
        "brenton-2026.txt:4",
    ):
        assert words in done.out


def test_as_json_it_is_what_went_to_the_provider() -> None:
    body = json.loads(run("requests", NIGHTLY, "--demo", "--turn", "1", "--json").out)
    assert [tool["name"] for tool in body["tools"]] == ["Grep", "Read"]
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]


def test_what_is_not_there_is_said() -> None:
    assert "keeps no requests" in run("requests", FIRST_LIGHT, "--demo").err
    assert "keeps no request whose id" in run("requests", NIGHTLY, "zzz", "--demo").err
    assert "No request of turn 7" in run("requests", NIGHTLY, "--turn", "7", "--demo").err
