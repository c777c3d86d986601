"""Who the sharer is, from the environment and the folders of sessions."""

from unspool.redact.people import People


def test_names_come_from_the_environment_and_folders() -> None:
    """Users, machine and mail of the environment, and users of home folders on every system."""
    people = People.of(
        {"USER": "evelyn", "HOME": "/home/evelyn", "HOSTNAME": "tern-7", "EMAIL": "e@navy.mil"},
        ["/Users/grace/code", r"C:\Users\Hopper\x", "/srv/app"],
    )
    assert people.users == {"evelyn", "grace", "Hopper"}
    assert people.hosts == {"tern-7"}
    assert people.homes == {"/home/evelyn"}
    assert people.emails == {"e@navy.mil"}


def test_what_tells_nobody_is_nobody() -> None:
    """Names that every machine has, and names too short to be words, are left alone."""
    people = People.of(
        {"USER": "root", "HOME": "/root", "HOSTNAME": "localhost", "LOGNAME": "al"}, ["/home/runner/work"]
    )
    assert people == People()


def test_a_short_name_must_be_exact() -> None:
    """A short user name is found as it is written only."""
    (rule,) = People.of({"USER": "Eve"}).rules()
    assert rule.pattern.startswith("(?<!")
