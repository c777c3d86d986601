"""The finder: secrets through disguises, no look-alikes, places that are those of the text as given."""

import base64
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.labelled import DISGUISES, NAMED, Labelled, is_in, labelled, lookalikes
from tests.thorough import thorough, tries
from unspool.redact.finder import Finder
from unspool.redact.rules import PersonalNames

FINDER = Finder()
EVE = Finder(
    None, PersonalNames.of({"USER": "evelyn", "HOSTNAME": "evelyns-mac", "EMAIL": "eve@navy.mil"}), ["Project Tern"]
)


@cache
def looked_for(seed: int) -> list[tuple[Labelled, bool]]:
    """Every label, and whether its secret is found."""
    return [(label, is_in(label, [match.value for match in FINDER.find(label.text)])) for label in labelled(seed)]


SEEDS = [11, pytest.param(12, marks=thorough)]


@pytest.mark.parametrize("seed", SEEDS)
def test_secrets_are_found_through_disguises(seed: int) -> None:
    """Of secrets with a form of their own at least 99 in 100 are found, whatever they wear; of others 90."""
    missed: Counter[bool] = Counter()
    every: Counter[bool] = Counter()
    for label, found in looked_for(seed):
        every[label.rule in NAMED] += 1
        missed[label.rule in NAMED] += not found
    assert every[False] > 40 * 12
    assert missed[False] <= every[False] / 100
    assert missed[True] <= every[True] / 10


@pytest.mark.parametrize("seed", SEEDS)
def test_no_disguise_hides_much(seed: int) -> None:
    """Each disguise by itself is seen through, for nine in ten secrets and more."""
    formed = [(label.disguise, found) for label, found in looked_for(seed) if label.rule not in NAMED]
    missed = Counter(disguise for disguise, found in formed if not found)
    every = Counter(disguise for disguise, _ in formed)
    assert set(every) == set(DISGUISES)
    assert [name for name in every if missed[name] > every[name] / 10] == []


def test_look_alikes_are_let_through() -> None:
    """Digests, ids, locks, code and made-up keys give no alarm in thousands of lines."""
    assert [line for line in lookalikes(2, tries(5_600, 28_000)) if FINDER.find(line)] == []


def test_a_stretch_is_of_the_text_as_given() -> None:
    """What goes is the secret in its disguise; what stands around it stays."""
    key = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    hidden = "".join(f"\\u{ord(char):04x}" for char in key)
    text = f'a "{hidden}" b %22{key}%22 c'
    found = FINDER.find(text)
    assert [match.value for match in found] == [key, key]
    assert [text[match.start : match.end] for match in found] == [hidden, key]


@pytest.mark.parametrize(
    "text",
    [
        "GITHUB_TOKEN={}\nOTHER_TOKEN={}\n",
        "GITHUB_TOKEN={}\\nOTHER_TOKEN={}\\n",
        "GITHUB_TOKEN: {}\nOTHER_TOKEN: {}",
        "  api_key: {}\n  token2: {}",
        "password={}\nuser_key2={}",
    ],
)
def test_lines_beside_each_other_are_two(text: str) -> None:
    """A name at the beginning of the next line is no rest of the value before it."""
    values = ["q8Zk2Lw9Xv4Rt6Yb1NqP", "m3Kd8Vb2Xs7Lp1Wq9RzT"]
    assert [match.value for match in FINDER.find(text.format(*values))] == values


@pytest.mark.parametrize(("above", "below", "whole"), [(46, 30, True), (20, 46, True), (45, 47, False)])
def test_a_line_as_long_as_one_beside_it_was_broken_because_it_was_full(above: int, below: int, whole: bool) -> None:
    """Then what follows goes on with it, though it reads like a word; else it is the beginning of a sentence."""
    first, rest = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4", "wavelets"
    lines = ("This is what it printed here, in three lines: ".ljust(above, ".")[:above], f"token: {first}".rjust(46))
    text = "\n".join([*lines, f"{rest} and no more of it".ljust(below, ".")[:below], ""])
    assert [match.value for match in FINDER.find(text)] == [first + rest if whole else first]


def test_what_follows_a_value_is_not_taken_for_its_rest() -> None:
    """Times and counts at the beginning of the next line stay."""
    for rest in ("2026-01-01 started", "17 files changed", "name: x9"):
        (found,) = FINDER.find(f"API_KEY=q8Zk2Lw9Xv4Rt6Yb1NqP\n{rest}")
        assert found.value == "q8Zk2Lw9Xv4Rt6Yb1NqP"


def test_what_repeats_itself_is_made_up() -> None:
    """Keys of the right form that somebody typed for an example are let through."""
    made_up = ["sk-ant-" + "a" * 40, "ghp_" + "ab12" * 9, "AKIA" + "A" * 16, "sk-ant-api03-" + "abc" * 12]
    assert [text for text in made_up if FINDER.find(text)] == []


def test_people_and_terms_are_words() -> None:
    """Names from the environment and chosen terms are found as words, in any case; parts of words are not."""
    text = "Evelyn on EVELYNS-MAC wrote to eve@navy.mil of project tern; evelynian, project terns"
    assert [match.rule for match in EVE.find(text)] == ["user-name", "host-name", "email", "term"]


def test_of_what_overlaps_nothing_is_left() -> None:
    """Two findings that overlap become one that covers both, and a secret names it."""
    text = "curl https://ada:hunter22@evelyns-mac.navy.mil"
    (first, *rest) = EVE.find(text)
    assert (first.rule, first.value) == ("url-password", "hunter22")
    assert all(a.end <= b.start for a, b in pairwise([first, *rest]))


def test_names_given_are_not_found() -> None:
    """What replaced something is never taken for something, even beside it."""
    text = "password=[redacted:password-1] /home/user-1/x user-2@example.invalid 192.0.2.7 2001:db8::1"
    assert EVE.find(text) == []


@given(st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    """No text raises; findings are in order, apart, and within the text."""
    found = EVE.find(text)
    assert all(0 <= match.start < match.end <= len(text) for match in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(
    st.lists(st.sampled_from([label for label in labelled(13) if label.disguise == "plain"]), min_size=1, max_size=4)
)
def test_secrets_beside_each_other_hide_none(labels: list[Labelled]) -> None:
    """Several secrets in one text are all found."""
    text = " ;\n\n ".join(label.text for label in labels)
    values = [match.value for match in FINDER.find(text)]
    assert [label for label in labels if not is_in(label, values)] == []


@pytest.mark.parametrize("joined", ["fix-{}", "note_{}.txt", "Current branch: try-{}\n", "?? wip-{}.patch"])
def test_a_secret_is_found_though_it_is_joined_to_a_name(joined: str) -> None:
    """Branches and files are called so. What only begins like a key, behind a hyphen, is a name."""
    begins = ("ghp_", "sk_live_", "npm_", "hf_", "glpat-", "AKIA")
    keys = {label.secret for label in labelled(31) if label.disguise == "plain" and label.secret.startswith(begins)}
    assert len(keys) >= 4
    found = {key: FINDER.find(joined.format(key)) for key in keys}
    assert [key for key in keys if not any(key in match.value for match in found[key])] == []
    assert FINDER.find(joined.format("sk-internationalization2026")) == []
    assert FINDER.find(joined.format("npm_config_registry_and_cache_folder_names1")) == []


@pytest.mark.parametrize("size", [1, 7, 40])
def test_a_key_that_stands_in_two_pieces_is_found_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the text is cut for the search of keys, the same is found."""
    text = "\n".join(label.text for label in islice(labelled(), 200))
    whole = FINDER.find(text)
    monkeypatch.setattr("unspool.redact.finder._PIECE", size)
    assert whole
    assert FINDER.find(text) == whole


@pytest.mark.parametrize("encoded", [lambda data: base64.b64encode(data).decode(), bytes.hex])
def test_text_with_other_letters_is_read_in_base64_and_hexadecimal(encoded: Callable[[bytes], str]) -> None:
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    for text in (f"┌────┐\n│ it │ {token} │\n└────┘", f"     3→TOKEN={token}", f"│ API_TOKEN │ {token} │"):
        (found,) = Finder().find(f"see {(coded := encoded(text.encode()))} there")
        assert found.value == token
        assert 4 < found.start < found.end <= 4 + len(coded)
