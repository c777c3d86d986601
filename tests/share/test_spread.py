"""A value that is known for a secret in one place only is in nothing that is made of the session."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.fakes import gh
from tests.cli.running import run, source
from tests.log_builder.builder import LogBuilder
from tests.share.made import CWD, SESSION, USER, leaked
from unspool.hub_client.prepare import PushRedaction, prepare_push
from unspool.redact.finder import KeySearch
from unspool.redact.policy import RedactionPolicy
from unspool.redact.replacements import SecretFinding, SecretMatch
from unspool.redact.rules import builtin_rules
from unspool.redact.spread import COMMON_WORD
from unspool.share.choices import ShareChoices, ShareSettings, finding_id
from unspool.share.prepare import prepare_shares
from unspool.share.redact_files import is_kept, words_with
from unspool.store.library import Library

VALUE = "tr7" + "Kq9/Zw2=xLm"
HELD = {"value": VALUE}
WORD = "lighthouse"


def write(folder: Path) -> Path:
    """A session that names the value once, and says it without its name everywhere else."""
    log = LogBuilder(session_id=SESSION, cwd=CWD, home=f"/home/{USER}/.claude", model="claude-sonnet-4-5")
    log.prompt(f"Try mysql -p{VALUE} harbour")
    log.ran("cat .env", f"DB_PASSWORD={VALUE}\n")
    log.assistant(log.think(f"So {VALUE} it is."), log.text(f"It is {VALUE[:6]}"), log.text(f"{VALUE[6:]} then."))
    coded = base64.b64encode(f"a{VALUE}".encode()).decode()
    log.ran(f"curl 'https://harbour/?{quote(VALUE, safe='')}'", f"{coded}\n{VALUE.encode().hex()}\n")
    log.assistant(big := log.use("Bash", command="cat big")).spilled(big, f"{'tide ' * 900}{VALUE}\n")
    log.assistant(use := log.agent_use("explorer", f"Use {VALUE}", "Look"))
    log.subagent(use, "explorer", f"Use {VALUE}", lambda child: child.assistant(child.text(f"I used {VALUE}.")))
    log.side("custom-title", customTitle=f"Gauge {VALUE}").side("something-new", words=[{VALUE: VALUE}])
    (folder / "projects").mkdir(parents=True)
    log.write(folder)
    return folder


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    place = write(tmp_path / "logs")
    assert leaked(place, HELD)
    return place


@pytest.mark.parametrize("form", ["html", "site", "bundle", "gist"])
def test_it_is_in_no_share(logs: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made"
    made.mkdir()
    to = () if form == "gist" else ("-o", str(made / "talk"))
    if form == "gist":
        made = gh(tmp_path / "bin", monkeypatch)
    done = run("share", SESSION, "--source", str(logs), f"--{form}", *to, "--yes")
    assert done.code == 0, done.err
    assert leaked(made, HELD) == set()
    assert all(half not in file.read_bytes() for half in _halves() for file in made.rglob("*") if file.is_file())


def _halves() -> tuple[bytes, bytes]:
    return f"It is {VALUE[:6]}".encode(), f"{VALUE[6:]} then".encode()


@pytest.mark.parametrize("left", [["--no-thinking"], ["--no-tools"], ["--no-subagents"], ["--without", "1"]])
def test_a_value_that_only_a_part_names_which_is_left_out_is_gone_too(left: list[str], tmp_path: Path) -> None:
    """What tells that a value is a secret need not be shared itself."""
    log = LogBuilder(session_id=SESSION, cwd=CWD, home=f"/home/{USER}/.claude", model="claude-sonnet-4-5")
    log.prompt(f"Note DB_PASSWORD={VALUE}" if left[0] == "--without" else "Look.")
    log.assistant(log.think(f"DB_PASSWORD={VALUE}" if left[0] == "--no-thinking" else "Well."), log.text("I look."))
    log.ran("cat .env", f"DB_PASSWORD={VALUE}\n" if left[0] == "--no-tools" else "nothing\n")
    log.assistant(use := log.agent_use("explorer", "Look", "Look"))
    said = f"DB_PASSWORD={VALUE}" if left[0] == "--no-subagents" else "Nothing."
    log.subagent(use, "explorer", "Look", lambda child: child.assistant(child.text(said)))
    log.prompt(f"And now with {VALUE} please.")
    log.assistant(log.text(f"With {VALUE} it goes."))
    (tmp_path / "logs/projects").mkdir(parents=True)
    log.write(tmp_path / "logs")
    (made := tmp_path / "made").mkdir()
    done = run("share", SESSION, "--source", str(tmp_path / "logs"), "--bundle", "-o", str(made / "x"), "--yes", *left)
    assert done.code == 0, done.err
    assert leaked(made, HELD) == set()


def test_it_is_in_no_log_that_was_redacted(logs: Path, tmp_path: Path) -> None:
    assert run("redact", SESSION, "--source", str(logs), "-o", str(tmp_path / "clean.jsonl")).code == 0
    assert leaked(tmp_path / "clean.jsonl", HELD) == set()


def test_it_is_in_nothing_that_is_pushed(logs: Path, tmp_path: Path) -> None:
    (found,) = Library((logs,)).logs()
    (tmp_path / "pushed").mkdir()
    prepare_push(found, PushRedaction(RedactionPolicy(), b"k" * 32, {}), tmp_path / "pushed")
    assert leaked(tmp_path / "pushed", HELD) == set()


def test_a_common_word_goes_where_a_person_says_so() -> None:
    match = SecretMatch(COMMON_WORD, "secret", WORD, 0, 0)
    assert is_kept(match, ShareChoices())
    assert not is_kept(match, ShareChoices(spread=frozenset({finding_id(COMMON_WORD, WORD)})))


def test_a_text_is_looked_through_by_the_rules_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the whole session tells is known when the files of its share are looked through."""
    looked: list[str] = []
    find = KeySearch.places

    def counted(search: KeySearch, low: bytes) -> Iterator[Any]:
        looked.append(low.decode())
        return find(search, low)

    log = LogBuilder(session_id=SESSION, cwd=CWD, home=f"/home/{USER}/.claude", model="claude-sonnet-4-5")
    log.prompt(f"The tide gauge zyx stands at mark 4711, and DB_PASSWORD={VALUE}").assistant(log.text("Aye."))
    monkeypatch.setattr(KeySearch, "places", counted)
    assert (
        run("share", SESSION, *source(tmp_path / "logs", log), "--bundle", "-o", str(tmp_path / "made"), "--yes").code
        == 0
    )
    assert sum("gauge zyx stands" in text and VALUE.lower() in text for text in looked) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"gmeligio's EligioApp, and Eligio_2", {"gmeligio", "EligioApp", "Eligio"}),
        (b"eligioeligio eligio", {"eligioeligio", "eligio"}),
        (b"9eligio x-eligio-y " + b"a" * 30 + b"eligio", {"eligio"}),
        (b"el igio", set()),
        (b"", set()),
    ],
    ids=["several", "twice in one", "none of these", "apart", "nothing"],
)
def test_words_that_hold_a_name_are_listed(text: bytes, words: set[str]) -> None:
    """Whole words of letters and digits, which begin with a letter and are not very long."""
    assert words_with(["eligio", "\u00e9lise"], [text]) == words
    assert words_with([], [text]) == set()


def test_a_share_that_nobody_reviews_knows_what_a_review_is_shown(logs: Path) -> None:
    """What is found is the same whether it is found before the files are written or meanwhile, in every kind."""
    shown: list[SecretFinding] = []

    def review(found: Sequence[SecretFinding], choices: ShareChoices) -> ShareChoices:
        shown.extend(found)
        return choices

    library = Library((logs,))
    ask = ShareSettings(lambda _: ShareChoices(), builtin_rules(), review=review, environment={"USER": USER})
    with prepare_shares(library, list(library.logs()), ask) as share:
        reviewed = share
    with prepare_shares(library, list(library.logs()), ask._replace(review=None)) as share:
        assert list(share.found) == list(reviewed.found) == shown
        assert share.report == reviewed.report
    assert {Path(one.log).suffix for one in shown} >= {".jsonl", ".json", ".txt"}
