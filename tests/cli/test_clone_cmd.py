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
from unspool.config import config_folder
from unspool.copies import records
from unspool.share.choices import ShareChoices, save_choices

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


TOKEN = "ghp_" + "q7Rk2Lw9Zt4Xc8Vb1Nm5Hj3Gf6Ds0PaYeUiO"
MAIL = "marit.solberg@nordlys-havn.no"


def first_words(text: str) -> str:
    """The passage up to its long part, as a model that keeps every name would shorten it."""
    return json.dumps({"text": text.partition(" The harbour")[0]})


@pytest.fixture
def telling(home: Path, model: Model) -> Path:
    """Answers with a token, an address, and words that look like what replaces them."""
    model.always = first_words
    made = LogBuilder(version="2.1.230", cwd="/home/maritsol/harbour")
    words = f"Use {TOKEN} of {MAIL} in /home/maritsol/harbour; user-1 and 192.0.2.1 are others."
    for number in range(10):
        made.prompt(f"Question {number}?").assistant(made.text(f"{words} {LONG}"))
    return made.write(home / ".claude")


def sent(model: Model) -> str:
    return json.dumps([heard.body for heard in model.heard])


def test_what_must_not_leave_is_not_sent_and_is_back_in_the_copy(telling: Path, model: Model, home: Path) -> None:
    """Nor is it in what is kept of before and after."""
    told, err = cloned(telling.stem, *flags(model))
    assert len(model.heard) == 8
    assert not [secret for secret in (TOKEN, MAIL, "maritsol") if secret in sent(model)]
    assert "redacted, 3 values replaced" in err
    whole = f"Use {TOKEN} of {MAIL} in /home/maritsol/harbour; user-1 and 192.0.2.1 are others."
    answers = [line for line in map(json.loads, lines(told)) if line["type"] == "assistant"]
    shortened = [line for line in answers if line["message"]["content"][0]["text"] == whole]
    assert len(shortened) == 8
    (record,) = home.rglob(f"{told['session']}-compression.md")
    assert TOKEN not in record.read_text()


def test_words_that_are_always_replaced_in_shares_of_the_project_are_not_sent(telling: Path, model: Model) -> None:
    save_choices("/home/maritsol/harbour", ShareChoices(terms=("harbour lies",)))
    cloned(telling.stem, *flags(model))
    assert "harbour lies" not in sent(model)


@pytest.mark.parametrize("way", ["flag", "setting"])
def test_it_is_sent_as_it_is_only_where_that_is_asked_for(telling: Path, model: Model, home: Path, way: str) -> None:
    if way == "setting":
        place = config_folder() / "settings.toml"
        place.parent.mkdir(parents=True)
        place.write_text("[compress]\nredact = false\n")
    _, err = cloned(telling.stem, *flags(model), *(["--compress-unredacted"] if way == "flag" else []))
    assert TOKEN in sent(model)
    assert "as it is, secrets too" in err


def test_a_dry_run_says_what_of_it_would_be_replaced(telling: Path, model: Model) -> None:
    _, err = cloned(telling.stem, "-n", *flags(model))
    assert "redacted, 3 values replaced" in err
    _, err = cloned(telling.stem, "-n", *flags(model), "--compress-unredacted")
    assert "as it is, secrets too" in err
    assert model.heard == []


def test_passages_that_were_kept_are_forgotten_with_their_session(telling: Path, model: Model, home: Path) -> None:
    assert run("sync").code == 0
    cloned(telling.stem, *flags(model))
    assert len(list(home.rglob("*-compression.md"))) == 1
    assert run("forget", telling.stem, "--yes").code == 0
    assert list(home.rglob("*-compression.md")) == []


def test_beside_an_encrypted_archive_no_passage_is_kept(
    telling: Path, model: Model, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("sync").code == 0
    monkeypatch.delenv("UNSPOOL_KEY_FILE", raising=False)
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", "a passphrase for tests")
    assert run("archive", "encrypt").code == 0
    _, err = cloned(telling.stem, *flags(model))
    assert "not kept beside an encrypted archive" in err
    assert list(home.rglob("*-compression.md")) == []
