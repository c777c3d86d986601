"""Names for what must go: the same for the same, of the form of what they replace, kept for another time."""

from hypothesis import given
from hypothesis import strategies as st

from unspool.redact.replacements import ReplacementNames, SecretMatch, keyed_digest

RULES = ("home", "user-name", "email", "host-name", "ipv4", "ipv6", "github-token", "phone")


def found(rule: str, value: str) -> SecretMatch:
    return SecretMatch(rule, "personal", value, 0, len(value))


def test_names_keep_the_form() -> None:
    """A user stays a user, an address an address; a secret is told by its rule."""
    names = ReplacementNames()
    given = [names.of(found(rule, "x")) for rule in ("home", "email", "host-name", "ipv4", "ipv6", "npm-token")]
    assert given[:2] == ["user-1", "user-2@example.invalid"]
    assert given[2:] == ["host-1", "192.0.2.1", "2001:db8::1", "[redacted:npm-token-1]"]


def test_a_user_is_one_wherever_named() -> None:
    """The user of a path and the same user by name have one name."""
    names = ReplacementNames()
    assert names.of(found("home", "eve")) == names.of(found("user-name", "eve")) == "user-1"


def test_more_addresses_than_documents_have() -> None:
    """After 254 addresses the next are told by number; no two share a name."""
    names = ReplacementNames()
    given = [names.of(found("ipv4", f"10.1.{n // 200}.{n % 200}")) for n in range(300)]
    assert len(set(given)) == 300
    assert given[-1].startswith("[redacted:ipv4-")


@given(st.lists(st.tuples(st.sampled_from(RULES), st.text(min_size=1, max_size=5)), max_size=30))
def test_names_are_one_to_one_and_last(values: list[tuple[str, str]]) -> None:
    """The same value has the same name, different ones different names, in this share and one that takes it up."""
    names = ReplacementNames(key=b"a key")
    given = {value: names.of(found(*value)) for value in values}
    assert given == {value: names.of(found(*value)) for value in values}
    assert all(names.mapping()[name] == keyed_digest(b"a key", value) for (_, value), name in given.items())
    later = ReplacementNames(names.mapping(), b"a key")
    for (rule, value), name in given.items():
        assert later.of(found(rule, value)) == name
    assert later.mapping() == names.mapping()
