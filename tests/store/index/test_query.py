"""The language of search: every text is a question, and the index answers it as logic says."""

import re
from collections.abc import Iterable

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.store.index.normalize_text import full_text_match, match_ways, normalize_text
from unspool.store.index.query import (
    DEEPEST,
    MOST_WORDS,
    NAMES,
    And,
    Filter,
    Node,
    Not,
    Or,
    Term,
    parse_query,
    query_terms,
)

WORDS = ("ape", "bee", "cat", "dog", "elk")


def table(texts: Iterable[str]) -> apsw.Connection:
    """A full-text table as the index has it."""
    db = apsw.Connection(":memory:")
    tokenize = "unicode61 remove_diacritics 2"
    db.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='{tokenize}')")
    db.executemany(
        "INSERT INTO words(rowid, text) VALUES(?, ?)", ((n, normalize_text(text)) for n, text in enumerate(texts))
    )
    return db


def ask(db: apsw.Connection, tree: Node, size: int) -> set[int]:
    """The documents that the index gives."""
    asked = full_text_match(tree)
    found = {number for (number,) in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (asked.text,))}
    return set(range(size)) - found if asked.excluded else found


def found(question: str, *texts: str) -> list[str]:
    """The texts that a question finds."""
    tree = parse_query(question).tree
    assert tree is not None
    hits = ask(table(texts), tree, len(texts))
    return [text for number, text in enumerate(texts) if number in hits]


def holds(tree: Node, text: str) -> bool:
    """What the answer must be, by logic alone."""
    match tree:
        case Term(words, _, prefix):
            last = "" if prefix else r"\b"
            return re.search(rf"\b{re.escape(words)}{last}", text) is not None
        case Not(part):
            return not holds(part, text)
        case And(parts):
            return all(holds(part, text) for part in parts)
        case Or(parts):
            return any(holds(part, text) for part in parts)


def written(tree: Node) -> str:
    """A tree as someone might type it."""
    match tree:
        case Term(words, exact, prefix):
            return (f'"{words}"' if exact else words) + "*" * prefix
        case Not(part):
            return f"NOT ({written(part)})"
        case And(parts):
            return " ".join(f"({written(part)})" for part in parts)
        case Or(parts):
            return " OR ".join(f"({written(part)})" for part in parts)


def _terms() -> st.SearchStrategy[Node]:
    single = st.builds(Term, st.sampled_from(WORDS))
    phrase = st.builds(lambda a, b: Term(f"{a} {b}", exact=True), st.sampled_from(WORDS), st.sampled_from(WORDS))
    prefix = st.builds(lambda word, size: Term(word[:size], prefix=True), st.sampled_from(WORDS), st.integers(1, 3))
    return st.one_of(single, phrase, prefix)


def _some(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(parts.map(Not), several.map(And), several.map(Or))


TREES = st.recursive(_terms(), _some, max_leaves=8)
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=8)


@given(TREES, TEXTS)
def test_the_index_answers_as_logic_says(tree: Node, texts: list[str]) -> None:
    """AND, OR, NOT, phrases and prefixes, in any combination, find just the texts that they are true of."""
    parsed = parse_query(written(tree))
    assert parsed.tree is not None
    assert parsed.notes == ()
    expected = {number for number, text in enumerate(texts) if holds(tree, text)}
    assert ask(table(texts), parsed.tree, len(texts)) == expected


@given(st.one_of(st.text(), st.text(alphabet="ab\"()-*:_ \\\0ANDORT'“”", max_size=60)))
def test_every_text_is_a_question(text: str) -> None:
    """Whatever is typed, the index takes it without an error."""
    parsed = parse_query(text)
    if parsed.tree is not None:
        ask(table(["a b", "ab", text]), parsed.tree, 3)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "(a OR " * 200,
        "NOT " * 5000 + "a",
        "-(" * 300 + "a",
        "a OR " * 3000,
        '"' * 999,
        "a AND NOT b " * 500,
    ],
    ids=["open", "nested", "not", "minus", "or", "quotes", "long"],
)
def test_a_monstrous_question_is_a_question(text: str) -> None:
    """Depth and length are bounded, so that neither our reader nor the index's runs out of room."""
    parsed = parse_query(text)
    if parsed.tree is not None:
        ask(table(["a", "b"]), parsed.tree, 2)


def test_too_many_words_are_told() -> None:
    parsed = parse_query(" ".join(f"w{number}" for number in range(MOST_WORDS + 5)))
    assert len(query_terms(parsed.tree)) == MOST_WORDS
    assert str(MOST_WORDS) in parsed.notes[0]


def test_too_deep_parentheses_are_told() -> None:
    assert any(str(DEEPEST) in note for note in parse_query("(" * (DEEPEST + 2) + "a" + ")" * (DEEPEST + 2)).notes)


def test_or_binds_weaker_than_words_beside_each_other() -> None:
    assert parse_query("a b OR c d").tree == Or((And((Term("a"), Term("b"))), And((Term("c"), Term("d")))))


def test_small_operators_are_words() -> None:
    assert parse_query("a or not b").tree == And((Term("a"), Term("or"), Term("not"), Term("b")))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ('say "hello', "quote"),
        ("(a b", "not closed"),
        ("a) b", "closes nothing"),
        ("a NOT", "NOT"),
        ("a OR", "OR"),
        ("*** a", "no letter or digit"),
    ],
)
def test_what_is_mended_is_told(question: str, note: str) -> None:
    parsed = parse_query(question)
    assert parsed.tree is not None
    assert any(note in said for said in parsed.notes)


def test_parentheses_inside_a_word_belong_to_it() -> None:
    """Code is typed as it stands: `main()` opens no group."""
    assert parse_query("(main() OR f(x))").tree == Or((Term("main()"), Term("f(x)")))


def test_two_dashes_do_not_exclude() -> None:
    """An option of a command is looked for, not excluded."""
    assert parse_query("--force").tree == Term("--force")
    assert parse_query("-force").tree == Not(Term("force"))


@pytest.mark.parametrize("name", NAMES)
def test_filters_are_taken_out_of_the_words(name: str) -> None:
    parsed = parse_query(f'a {name}:x -{name}:"y z" b')
    assert parsed.tree == And((Term("a"), Term("b")))
    assert parsed.filters == (Filter(name, "x"), Filter(name, "y z", excluded=True))


def test_not_before_a_filter_excludes_it() -> None:
    assert parse_query("NOT tool:x").filters == (Filter("tool", "x", excluded=True),)
    assert parse_query("-(tool:x -role:y)").filters == (Filter("tool", "x", excluded=True), Filter("role", "y"))


def test_other_colons_are_just_text() -> None:
    assert parse_query("std::vector https://x.org tool:").tree == And(
        (Term("std::vector"), Term("https://x.org"), Term("tool:"))
    )


def test_only_what_is_asked_for_is_highlighted() -> None:
    assert query_terms(parse_query("a -b (c OR NOT d)").tree) == (Term("a"), Term("c"))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("read_file", ("read_file", "readfile", "read file")),
        ("readFile", ("readFile", "read File")),
        ("getHTTPStatus", ("getHTTPStatus", "get HTTP Status")),
        ("a/b_c.py", ("a/b_c.py",)),
        ("plain", ("plain",)),
    ],
)
def test_identifiers_are_meant_in_every_spelling(word: str, expected: tuple[str, ...]) -> None:
    assert match_ways(Term(word)) == expected
    assert match_ways(Term(word, exact=True)) == (word,)


def test_an_identifier_finds_its_other_spellings() -> None:
    texts = ("call read_file now", "call readFile now", "readfile", "the file was read", "read-file")
    assert found("read_file", *texts) == [texts[0], texts[1], texts[2], texts[4]]
    assert found("readFile", *texts) == [texts[0], texts[1], texts[2], texts[4]]
    assert found('"read_file"', *texts) == [texts[0], texts[4]]


def test_paths_and_places_are_found_as_typed() -> None:
    texts = ("see src/app/main.py:12 there", "src main", "main.py:120", "src\\app\\main.py:12")
    assert found("src/app/main.py:12", *texts) == [texts[0], texts[3]]
    assert found("main.py:12*", *texts) == [texts[0], texts[2], texts[3]]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("東京", "私は東京に住んでいます"),
        ("住んで", "私は東京に住んでいます"),
        ("数据库", "修复数据库连接"),
        ("한국", "한국어로 작성"),
        ("แมว", "ฉันมีแมวสองตัว"),
        ("カタカナ", "ｶﾀｶﾅで書く"),
        ("ガ", "カ\u3099ラス"),
        ("full", "\uff46\uff55\uff4c\uff4c width"),
        ("cafe", "un café noir"),
        ("CAFÉ", "un cafe noir"),
        ("cafe\u0301", "un café"),
        ("naïve", "NAIVE"),
        ("fine", "ﬁne"),
        ("Привет", "привет мир"),
        ("test", "运行test吧"),
    ],
)
def test_scripts_and_accents_are_found_as_people_type_them(question: str, text: str) -> None:
    assert found(question, text, "something else") == [text]


def test_characters_in_another_order_are_not_found() -> None:
    assert found("京東", "東京") == []


@given(st.text())
def test_folding_is_stable(text: str) -> None:
    """What was folded once stays so, and holds nothing a database refuses."""
    once = normalize_text(text)
    once.encode()
    assert normalize_text(once).split() == once.split()
