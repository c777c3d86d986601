"""`unspool clone --compress`, against a model on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.copies.compress import model as models
from tests.copies.compress.model import Model
from tests.copies.making import faults
from tests.log_builder.builder import LogBuilder
from unspool.copies import records

LONG = "The harbour lies to the north of the light, and the tide comes in twice a day. " * 12


@pytest.fixture
def log(home: Path) -> Path:
    """Ten turns with long answers, the last of which no band takes."""
    made = LogBuilder(version="2.1.230")
    for number in range(10):
        made.prompt(f"Question {number}?").assistant(made.text(f"Answer {number}. {LONG}"))
    return made.write(home / ".claude")


@pytest.fixture
def model() -> Iterator[Model]:
    with models.model() as served:
        yield served


def flags(model: Model, bands: str = "0-80:heavy") -> list[str]:
    return ["--compress", bands, "--compress-url", f"{model.address}/v1", "--compress-model", "tiny", "--yes"]


def cloned(session: str, *arguments: str) -> tuple[dict[str, Any], str]:
    done = run("clone", session, "--preset", "none", "--json", *arguments)
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told, done.err


def lines(told: dict[str, Any]) -> list[bytes]:
    return Path(told["files"][0]["path"]).read_bytes().splitlines(keepends=True)


def test_old_answers_are_shortened_and_the_rest_is_as_it_was(log: Path, model: Model) -> None:
    told, err = cloned(log.stem, *flags(model))
    assert "tiny" in err
    assert len(model.heard) == 8
    assert faults(lines(told)) == []
    assert sum(LONG.encode().strip() in line for line in lines(told)) == 2
    assert told["after"]["tokens"] < told["before"]["tokens"] / 2
    assert told["options"]["compress"] == "0-80:heavy"


def test_what_was_shortened_is_not_shortened_again(log: Path, model: Model) -> None:
    """Nor in a copy of the copy, whatever made it."""
    first, _ = cloned(log.stem, *flags(model))
    assert len(records.find_record(first["session"]).compressed) == 8
    model.heard.clear()
    second, err = cloned(first["session"], *flags(model))
    assert model.heard == []
    assert "Nothing is left to compress" in err
    third, _ = cloned(second["session"], *flags(model, "0-100:light"))
    assert len(model.heard) == 2
    assert len(third["compressed"]) == 10


def test_the_record_says_who_did_it_and_what(log: Path, model: Model, home: Path) -> None:
    told, err = cloned(log.stem, *flags(model))
    (record,) = home.rglob(f"{told['session']}-compression.md")
    assert str(record) in err
    assert "tiny" in record.read_text()
    assert "127.0.0.1" in record.read_text()
    assert f"Answer 3. {LONG}".strip() in record.read_text()
    assert run("clone", "--undo").code == 0
    assert not record.exists()


def test_a_dry_run_asks_nobody(log: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for the agent's command, which need not be there for an estimate."""
    _, err = cloned(log.stem, "-n", *flags(model))
    assert "8 requests" in err
    monkeypatch.setenv("PATH", "/nowhere")
    _, err = cloned(log.stem, "-n", "--compress")
    assert "requests" in err
    assert model.heard == []
    assert run("clone", log.stem, "--compress", "--yes").code == 3


def test_without_a_word_nothing_is_sent(log: Path, model: Model) -> None:
    done = run("clone", log.stem, *flags(model)[:-1])
    assert done.code == 2
    assert "--yes" in done.err
    assert model.heard == []
    assert list(log.parent.glob("*.jsonl")) == [log]


def test_where_nothing_is_long_enough_the_copy_is_made_all_the_same(home: Path, model: Model) -> None:
    made = LogBuilder()
    log = made.prompt("Hello.").assistant(made.text("Hello.")).write(home / ".claude")
    told, err = cloned(log.stem, *flags(model, "0-100:heavy"))
    assert "Nothing is left to compress" in err
    assert Path(told["files"][0]["path"]).exists()
    assert model.heard == []
