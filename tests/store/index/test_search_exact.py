"""Exact search: texts and regular expressions, found where they stand and nowhere else; files and commands."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import Asked, asked, keys, lit
from tests.store.index.test_query import table
from unspool.errors import UsageProblem
from unspool.store.index import exact_search
from unspool.store.index.exact_search import regex_pattern, substring_pattern

NOW = datetime(2026, 5, 1, tzinfo=UTC)
CODE = 'def read_line(path: str) -> Line:\n    return parse(open(path).read(), strict=True)  # naïve "quoted" \\ back'


def coder(name: str, days: int) -> LogBuilder:
    log = LogBuilder(session_id=name, cwd=f"/home/dev/{name}", start=NOW - timedelta(days=days))
    return log.prompt(f"Hello from {name}.")


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    old, new = coder("old", 9), coder("new", 1)
    old.wrote("/home/dev/old/src/app/main.py", CODE).ran("git rebase -i main", "Successfully rebased")
    old.assistant(old.text("I ran git rebase, as told."))
    new.read("/home/dev/new/main.py", "x = 1\n").ran("python -m http.server --bind 0.0.0.0:80", "Serving")
    new.edited("/home/dev/new/main.py", "x = 1\n", "x = 1", "x = 2").read("/home/dev/new/domain.py", "y = 2")
    new.prompt("What does READ_LINE do?")
    with asked(tmp_path_factory.mktemp("exact"), old, new) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def read_line(path: str) ->", ["old"]),
        ("ead_lin", ["new", "old"]),
        ("READ_LIN", ["new"]),
        ("(path).read(), strict", ["old"]),
        ('"quoted"', ["old"]),
        ("\\ back", ["old"]),
        ("Line:\n    return", ["old"]),
        ("naïve", ["old"]),
        ("0.0.0.0:80", ["new"]),
        ("-> Line", ["old"]),
        ("nowhere to be found", []),
        (" ", ["new", "old"]),
    ],
)
def test_a_text_is_found_as_it_stands(asking: Asked, text: str, expected: list[str]) -> None:
    """Punctuation, quotes, line ends and pieces of words; capitals count where there are some."""
    assert keys(asking.substring(text)) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"def \w+\(path", ["old"]),
        (r"read_?line", ["new", "old"]),
        (r"READ_\w+", ["new"]),
        (r"^    return", ["old"]),
        (r"rebase|bind", ["new", "old"]),
        (r"(git) re(base)? -i", ["old"]),
        (r"0(\.0){3}:\d{2}", ["new"]),
        (r"z{40}", []),
        (r"x*", ["new"]),
    ],
)
def test_a_regular_expression_finds_what_it_fits(asking: Asked, pattern: str, expected: list[str]) -> None:
    assert keys(asking.regex(pattern)) == expected


def test_what_fits_is_lit(asking: Asked) -> None:
    assert lit(asking.regex(r"def \w+\(")) == ["def read_line("]
    assert lit(asking.substring("(path).")) == ["(path)."]


def test_words_and_filters_narrow_an_exact_search(asking: Asked) -> None:
    assert keys(asking.substring("git rebase", "tool:bash")) == ["old"]
    assert asking.substring("git rebase", "tool:bash").hits_found == 1
    assert keys(asking.substring("read", "project:new")) == ["new"]
    assert keys(asking.substring("git", "interactive")) == []
    assert keys(asking.substring("git rebase", "told")) == ["old"]


def test_the_search_ends_when_it_has_enough(asking: Asked) -> None:
    found = asking.substring("hello", sessions=1)
    assert (keys(found), found.sessions_found) == (["new"], None)


def test_every_hit_of_a_session_is_counted(tmp_path: Path) -> None:
    log = LogBuilder(session_id="many").prompt("x")
    for number in range(30):
        log.ran(f"echo {number}", f"value<{number}>")
    with asked(tmp_path, log) as opened:
        assert opened.substring("value<").sessions[0].count == 30
        assert len(opened.substring("value<", hits=5).sessions[0].hits) == 5


def test_lines_longer_than_what_is_read_at_once_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "_WINDOW", 64)
    log = LogBuilder(session_id="long").prompt("some words " * 100 + "<<needle>>").prompt("<<other>>")
    with asked(tmp_path, log) as opened:
        assert keys(opened.substring("<<needle>>")) == ["long"]
        assert keys(opened.substring("<<other>>")) == ["long"]


@pytest.mark.parametrize("wrong", ["(", "[a", "*", "a{2,1}", "(?P<a>x)(?P<a>y)"])
def test_a_wrong_expression_is_told(wrong: str) -> None:
    with pytest.raises(UsageProblem, match="no regular expression"):
        regex_pattern(wrong)


def test_an_empty_text_is_told() -> None:
    with pytest.raises(UsageProblem):
        substring_pattern("")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("read", ""),
        (" read", '"read" *'),
        (" read ", '"read"'),
        ("def read_line(", '"read line"'),
        ("def read", '"read" *'),
        ("((", ""),
        ("é x y", '"x y" *'),
        ("  12→x y", '"y" *'),
        ("12\tfoo bar", '"foo bar" *'),
        ("12ab cd", '"cd" *'),
        ("a b\nc d ", '"b" * AND "d"'),
    ],
)
def test_only_whole_words_are_asked_of_the_index(text: str, words: str) -> None:
    """The first word may be the end of a longer one; the last may be the beginning of one."""
    assert substring_pattern(text).words == words


_ATOMS = st.sampled_from(
    [
        "ab",
        "cd ",
        " ef",
        "_",
        "-",
        "(ab)",
        "(?:cd)",
        "(a|b)",
        "[abc]",
        "[^a]",
        r"\.",
        r"\w",
        r"\b",
        ".",
        "x",
        "X",
        "é",
        r"\(",
    ]
)
_REGEXES = st.lists(
    st.tuples(_ATOMS, st.sampled_from(["", "", "", "+", "*", "?", "{2}", "{0,3}", "+?"])), min_size=1
).map(lambda parts: "".join(atom + times for atom, times in parts if not (times and atom == r"\b")))


@given(_REGEXES.filter(bool), st.data(), st.text(alphabet="ab cd_ef.(X"), st.text(alphabet="ab cd_ef.(X"))
def test_what_a_pattern_needs_stands_wherever_it_fits(
    pattern: str, data: st.DataObject, before: str, after: str
) -> None:
    """No text that fits is lost by looking for literals, bytes or words of the pattern first."""
    sought = regex_pattern(pattern)
    try:
        text = before + data.draw(st.from_regex(re.compile(pattern))) + after
    except re.error:
        return
    if not sought.spans(text):
        return
    ignoring = sought.regex.flags & re.IGNORECASE
    for literal in sought.literals:
        assert (literal.lower() in text.lower()) if ignoring else literal in text
    hint, exact = sought.hint
    assert hint in (text if exact else text.lower()).encode()
    if sought.words:
        db = table([text])
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (sought.words,)).get == 1, sought.words


def test_a_file_is_found_by_the_end_of_its_path(asking: Asked) -> None:
    """The last to touch it comes first, with what was done; `domain.py` does not end with /main.py."""
    found = asking.file("main.py")
    assert keys(found) == ["new", "old"]
    assert [(hit.how, hit.file) for hit in found.sessions[0].hits] == [
        ("edit", "/home/dev/new/main.py"),
        ("read", "/home/dev/new/main.py"),
    ]
    assert [session.count for session in found.sessions] == [2, 1]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("app/main.py", ["old"]),
        ("./src/app/main.py", ["old"]),
        ("/home/dev/new/main.py", ["new"]),
        ("src\\app\\main.py", ["old"]),
        ("omain", ["new"]),
        ("nothing.py", []),
        ("%", []),
    ],
)
def test_files_are_named_as_people_do(asking: Asked, path: str, expected: list[str]) -> None:
    assert keys(asking.file(path)) == expected


def test_filters_narrow_who_touched_a_file(asking: Asked) -> None:
    assert keys(asking.file("main.py", "project:old")) == ["old"]


def test_a_command_is_found_where_it_was_run_not_where_it_was_spoken_of(asking: Asked) -> None:
    found = asking.command("git rebase")
    assert (keys(found), found.hits_found) == (["old"], 1)
    assert keys(asking.command("server --bind")) == ["new"]
    assert keys(asking.command("Successfully")) == []


def test_beyond_the_newest_all_are_counted_and_the_newest_still_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the archive has them: names that sort one way, times that go another."""
    monkeypatch.setattr(exact_search, "_FIRST", 1)
    logs = [coder(name, days).prompt("<<needle>>") for name, days in (("a", 5), ("b", 1), ("c", 9), ("d", 3))]
    with asked(tmp_path, *logs, coder("none", 0)) as opened:
        found = opened.substring("<<needle>>", sessions=3)
        assert keys(found) == ["b", "d", "a"]
        assert (found.sessions_found, found.hits_found) == (4, 4)
