"""A value that was found in one place is found wherever else it stands, however it is written there."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from unspool.redact.finder import Finder
from unspool.redact.log import redact_lines
from unspool.redact.replacements import ReplacementNames, SecretMatch
from unspool.redact.spread import COMMON_WORD, is_common_word, near_names, spread_values

VALUE = 'q7"Zx/9&k' + "Lw2"
PLAIN = "k3Vt9" + "QzLm2"
WRITTEN: dict[str, Callable[[str], str]] = {
    "raw": lambda value: value,
    "joined": lambda value: f"mysql -p{value}",
    "json": json.dumps,
    "json twice": lambda value: json.dumps(json.dumps(value)),
    "unicode": lambda value: "".join(f"\\u{ord(one):04x}" for one in value),
    "html": html.escape,
    "entities": lambda value: "".join(f"&#{ord(one)};" for one in value),
    "url": lambda value: quote(value, safe=""),
    "url all": lambda value: "".join(f"%{ord(one):02X}" for one in value),
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
    "base64 0": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 1": lambda value: base64.b64encode(b"x" + value.encode() + b"y").decode(),
    "base64 2": lambda value: base64.b64encode(b"xy" + value.encode() + b"zz").decode(),
    "base64 url": lambda value: base64.urlsafe_b64encode(b"xy" + value.encode() + b"zz").decode(),
    "long base64": lambda value: base64.b64encode(f"user: root\npassword is {value} today, or so".encode()).decode(),
    "wrapped": lambda value: f"the words are {value[:5]}\n{value[5:]} and go on",
    "indented": lambda value: f"the words are {value[:5]}\\\n    {value[5:]} and go on",
}


def known(*values: str, kind: str = "secret", rule: str = "password", ask: bool = False) -> Finder:
    return spread_values(Finder(), [SecretMatch(rule, kind, value, 0, 0) for value in values], ask=ask)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [VALUE, PLAIN])
@pytest.mark.parametrize("form", WRITTEN)
def test_it_is_found_in_every_form(form: str, value: str) -> None:
    text = f"Look: {WRITTEN[form](value)} there"
    (found,) = known(value).find(text)
    assert (found.value, found.kind) == (value, "secret")
    left = text[: found.start] + text[found.end :]
    assert value[:5] not in left
    assert value[5:] not in left


def test_what_the_rules_find_is_found_still() -> None:
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    assert {one.value for one in known(PLAIN).find(f"{token} and {PLAIN}")} == {token, PLAIN}


@pytest.mark.parametrize("word", ["production", "Password", "evelyn", "root"])
def test_a_common_word_is_asked_about_and_not_spread(word: str) -> None:
    assert is_common_word(word)
    assert known(word).find(f"in {word} now") == []
    if len(word) > 3:
        (found,) = known(word, ask=True).find(f"in {word} now")
        assert (found.rule, found.value) == (COMMON_WORD, word)


def test_a_persons_name_is_a_word_of_its_own() -> None:
    finder = known("eve-lyn42", kind="personal", rule="home")
    assert [one.value for one in finder.find("EVE-LYN42 wrote")] == ["eve-lyn42"]
    assert finder.find("the eve-lyn425 and xeve-lyn42") == []


def test_each_line_of_a_private_key_is_known() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "VJTUt9Us8cKjMzEfYyjiWA4R4ypbHqwIDAQABAoIBAQCT"]
    block = "\n".join(["-----BEGIN " + "PRIVATE KEY-----", *lines, "-----END " + "PRIVATE KEY-----"])
    (found,) = known(block, rule="private-key").find(f"tail: {lines[1]}")
    assert found.value == block


def test_very_many_values_are_looked_up_not_tried() -> None:
    """The same work for a text whether one value is known or fifty thousand."""
    values = [f"v{number:06}-{number * 7919 % 1_000_003:06}x" for number in range(50_000)]
    found = known(*values).find(" ".join(f"<{value}>" for value in values[::50]))
    assert [one.value for one in found] == values[::50]


TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.mark.parametrize(("value", "finder"), [(TOKEN, Finder()), (PLAIN, known(PLAIN))])
@pytest.mark.parametrize("lines", [1, 2])
def test_what_two_blocks_hold_together_goes_from_both(value: str, finder: Finder, lines: int) -> None:
    """Whether they stand in one line, or in two lines of one message."""
    one, two = ({"type": "text", "text": text} for text in (f"It is {value[:7]}", f"{value[7:]} as said"))
    contents = [[one, two]] if lines == 1 else [[one], [two]]
    written = [json.dumps({"message": {"id": "msg_1", "content": content}}).encode() for content in contents]
    made = b"".join(redact_lines(written, finder, ReplacementNames()))
    assert value[:7].encode() not in made
    assert value[7:].encode() not in made
    assert b"as said" in made


def test_a_word_after_a_whole_token_stays() -> None:
    blocks = [{"type": "text", "text": TOKEN}, {"type": "text", "text": "Then it ran"}]
    (made,) = redact_lines([json.dumps({"content": blocks}).encode()], Finder(), ReplacementNames())
    assert b"Then it ran" in made


def test_blocks_that_meet_make_no_alarm() -> None:
    blocks = [{"type": "text", "text": one} for one in ("It is set by password:", "Here we go on", "and on")]
    line = json.dumps({"content": blocks}).encode()
    assert list(redact_lines([line], Finder(), ReplacementNames())) == [line]


def test_words_built_on_a_name_are_offered() -> None:
    found = [SecretMatch("git-author", "personal", "Eligio Mariner", 0, 0)]
    words = ["gmeligio", "eligio", "EligioApp", "mariners", "harbour", "eli"]
    assert [one.value for one in near_names(found, words)] == ["EligioApp", "eligio", "gmeligio", "mariners"]


def test_the_name_of_a_mailbox_is_spread() -> None:
    finder = known("grace.hopper@navy.mil", kind="personal", rule="email")
    assert [(one.rule, one.value) for one in finder.find("as grace.hopper said")] == [("mail-name", "grace.hopper")]


def test_letters_of_chance_are_no_common_word() -> None:
    """A password of small letters is looked for everywhere, unless it is a word."""
    assert not is_common_word("riaydhawznbssqyx")
    assert is_common_word("lighthouse")


MARKS: dict[str, Callable[[list[str]], str]] = {
    "a diff": lambda lines: "\n".join(f"+{line}" for line in lines),
    "cat -n": lambda lines: "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1)),
    "Read": lambda lines: "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1)),
    "grep -n": lambda lines: "\n".join(f"deploy/keys/main.key:{number}:{line}" for number, line in enumerate(lines, 1)),
    "a quote": lambda lines: "\n".join(f"> {line}" for line in lines),
    "strings of code": lambda lines: "\n".join(f'    "{line}\\n"' for line in lines),
    "one line": " ".join,
    "escapes": "\\n".join,
    "JSON of PHP": lambda lines: "\\n".join(lines).replace("/", "\\/"),
}


@pytest.mark.parametrize("mark", MARKS)
def test_lines_of_a_private_key_are_known_without_the_marks_they_were_seen_behind(mark: str) -> None:
    body = [
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "MzEfYyjiWA4R4/pbHqwIDAQABAoIBAQCTw5HRGG8gbrYBWoE4Zb1kdyqx9ZqV3mE2",
        "+Zr5kC2/uQ8sXoLw1hT6yJn4vB0gMfDqPaRzEiUtYcKxWlNbHjGvFdSeAo3972QX",
        "k9Lm2Qw8ZxY4Tb==",
    ]
    text = MARKS[mark](["-----BEGIN " + "PRIVATE KEY-----", *body, "-----END " + "PRIVATE KEY-----"])
    finder = spread_values(Finder(), Finder().find(text))
    for line in body:
        assert finder.find(f"see {line} there"), line
    assert finder.find("in deploy/keys/main.key and Read 12 keys") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("args:\n  - --apca-api-secret-key\n  - {}", "DHkzP2qa2SXejJUkbfW48owDlCOTojaRhLkwShCH"),
        ("-NEO4J_AUTH=neo4j/{}\n+NEO4J_AUTH=", "0i!Mjftg2p9kcd"),
        (
            "https://discord.com/api/webhooks/7441805021370038697/{}",
            "bbb6PHasHoPQOF3H95lhs7jZJ--ccnK5593qVA7rUZ3gfkjiYjvpGh-TTe1E2ejcp8CT",
        ),
    ],
)
def test_a_secret_is_known_without_what_it_was_joined_to(text: str, value: str) -> None:
    finder = spread_values(Finder(), Finder().find(text.format(value)))
    (found,) = finder.find(f"once more: {value} is it")
    assert (found.start, found.end) == (11, 11 + len(value))
