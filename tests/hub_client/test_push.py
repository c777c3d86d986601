"""`unspool push`: what it asks, tells and remembers."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.conftest import files_store, on_files  # noqa: F401  fixtures
from tests.hub.sessions.team import Member, Team, team
from tests.hub_client.pushing import CWD, command, ended, key, write
from tests.share import made
from unspool.agents import FoundLog
from unspool.errors import UsageProblem
from unspool.hub.people import projects
from unspool.hub.policy import save_policy
from unspool.hub.store.connect import Store
from unspool.hub_client import login
from unspool.hub_client.manifest import file_chunks, file_pieces
from unspool.hub_client.push import PushedSession, PushMemory
from unspool.store.archive.database import archive_folder
from unspool.store.sync import sync


@pytest.fixture
def crew(files_store: Store) -> Iterator[Team]:  # noqa: F811
    with team(files_store) as running:
        yield running


@pytest.fixture
def anne(crew: Team) -> Member:
    return crew.member("anne")


def push(member: Member, *options: str) -> tuple[int, str, str]:
    return ended(command(*options, url=member.client.address, token=member.token))


def pushed(member: Member) -> set[str]:
    return {one["key"] for one in member.get("/api/archive").json["sessions"]}


def test_nothing_is_pushed_before_a_folder_was_chosen(anne: Member, home: Path) -> None:
    write(home, 1)
    code, _, err = push(anne, "--yes")
    assert (code, "Nothing is chosen" in err) == (2, True)
    assert pushed(anne) == set()


def test_only_chosen_folders_are_pushed_and_the_choice_is_remembered(anne: Member, home: Path) -> None:
    write(home, 1)
    made.session().write(home / ".claude")
    code, out, err = push(anne, "--yes", "--project", f"harbour={CWD}")
    assert code == 0, err
    assert "Pushed 1 session of 1" in out
    assert pushed(anne) == {key(1)}
    write(home, 2)
    code, out, _ = push(anne, "--yes", "--json")
    assert [one["session"] for one in json.loads(out)["pushed"]] == [key(2)]
    assert pushed(anne) == {key(1), key(2)}
    code, out, _ = push(anne, "--yes")
    assert (code, out) == (0, "Nothing new in 2 sessions.\n")
    assert push(anne, "--no-project", "harbour")[0] == 0
    write(home, 3)
    assert push(anne, "--yes")[0] == 2
    assert pushed(anne) == {key(1), key(2)}


def test_without_a_terminal_and_without_yes_nothing_leaves(anne: Member, home: Path) -> None:
    write(home, 1)
    code, _, err = push(anne, "--project", f"harbour={CWD}")
    assert (code, "no terminal" in err) == (2, True)
    assert pushed(anne) == set()


@pytest.mark.parametrize(("typed", "code"), [(b"n\n", 130), (b"y\n", 0)])
def test_on_a_terminal_it_shows_what_leaves_and_asks(anne: Member, home: Path, typed: bytes, code: int) -> None:
    made.session().write(home / ".claude")
    mine, theirs = os.openpty()
    process = command(
        "--project", f"harbour={made.CWD}", url=anne.client.address, token=anne.token, terminal=theirs
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while b"Push 1 to" not in shown:
        shown += os.read(mine, 4096)
    os.write(mine, typed)
    process.communicate(timeout=60)
    os.close(mine)
    assert process.returncode == code
    assert b"anthropic-key (secret): 1 place replaced" in shown
    assert made.SECRETS["prompt"].encode() not in shown
    assert pushed(anne) == ({made.SESSION} if code == 0 else set())


def test_a_rehearsal_tells_what_would_be_replaced_and_sends_nothing(crew: Team, anne: Member, home: Path) -> None:
    made.session().write(home / ".claude")
    code, out, err = push(anne, "--dry-run", "--project", f"harbour={made.CWD}")
    assert code == 0, err
    assert "anthropic-key (secret): 1 place replaced" in out
    assert "1 session of 1 would be pushed" in out
    assert not [secret for secret in made.SECRETS.values() if secret in out + err]
    assert pushed(anne) == set()
    assert crew.store.db.row("SELECT count(*) FROM sent") == (0,)


def test_a_new_project_is_made_on_the_hub(anne: Member, home: Path) -> None:
    write(home, 1)
    code, _, err = push(anne, "--yes", "--project", f"pier={CWD}")
    assert (code, "Made the project pier" in err) == (0, True)
    (one,) = anne.get("/api/archive").json["sessions"]
    assert one["project"]["name"] == "pier"


def test_a_session_of_another_folder_goes_nowhere(anne: Member, home: Path) -> None:
    made.session().write(home / ".claude")
    code, _, err = push(anne, made.SESSION, "--yes", "--project", f"harbour={CWD}")
    assert (code, "nothing is pushed" in err) == (3, True)


def test_the_words_of_the_team_are_replaced_too(crew: Team, anne: Member, home: Path) -> None:
    save_policy(crew.store.db, '{"terms": ["So it is"]}', projects.find_project(crew.store.db, "harbour"))
    path = write(home, 1)
    path.write_bytes(path.read_bytes().replace(b'"text":"', b'"text":"So it is, says '))
    code, out, err = push(anne, "--yes", "--project", f"harbour={CWD}")
    assert code == 0, err
    assert "term (term): 2 places replaced" in out
    (one,) = anne.get("/api/archive").json["sessions"]
    log = anne.get(f"/api/archive/{one['id']}/log").body
    assert b"So it is" not in log
    assert log.count(b"[redacted:term-") == 2


def test_what_only_the_archive_still_has_is_pushed_too(anne: Member, home: Path) -> None:
    path = write(home, 1)
    sync(archive_folder(), [home / ".claude"])
    data = path.read_bytes()
    path.unlink()
    code, _, err = push(anne, "--yes", "--project", f"harbour={CWD}")
    assert code == 0, err
    (one,) = anne.get("/api/archive").json["sessions"]
    assert anne.get(f"/api/archive/{one['id']}/log").body == data
    assert push(anne, "--yes")[1] == "Nothing new in 1 session.\n"


def test_a_token_that_may_only_read_is_told_so(crew: Team, home: Path) -> None:
    write(home, 1)
    reader = crew.member("rita", scope="read")
    code, _, err = push(reader, "--yes", "--project", f"harbour={CWD}")
    assert (code, "good for read only" in err) == (12, True)


@pytest.mark.parametrize("rate", ["fast", "0", "5 K", "-1"])
def test_a_rate_is_a_number_of_bytes(anne: Member, rate: str) -> None:
    assert push(anne, "--limit-rate", rate)[0] == 2


def test_a_session_that_ran_below_a_chosen_folder_goes_to_the_nearest(tmp_path: Path) -> None:
    for project, place in (("all", "/srv"), ("tide", "/srv/tidewater"), ("win", "C:\\src")):
        login.choose_folder(tmp_path, "http://hub", project, place)
    chosen = login.chosen_folders(tmp_path, "http://hub")
    asked = {"/srv/tidewater/a": "tide", "/srv/tide": "all", "/srvx": "", "": "", "C:\\src\\x": "win", "/home": ""}
    assert {place: login.project_for(chosen, place) for place in asked} == asked
    login.choose_folder(tmp_path, "http://hub", "other", "/srv")
    assert login.chosen_folders(tmp_path, "http://hub").get("all") is None
    assert login.chosen_folders(tmp_path, "http://elsewhere") == {}
    with pytest.raises(UsageProblem):
        login.forget_project(tmp_path, "http://hub", "all")


def test_what_is_remembered_outlives_torn_lines_and_stays_small(tmp_path: Path) -> None:
    memory = PushMemory(tmp_path, "http://hub")
    for number in range(500):
        memory.remember(PushedSession("p", f"k{number % 10}", str(number), "state"))
    (file,) = tmp_path.iterdir()
    with file.open("ab") as stream:
        stream.write(b'["p","k1","torn')
    again = PushMemory(tmp_path, "http://hub")
    again.remember(PushedSession("p", "k3", "new", "state"))
    once_more = PushMemory(tmp_path, "http://hub")
    pasts = [once_more.past("p", FoundLog("", f"k{number}", "codex", 0, 0)) for number in (1, 3, 9)]
    assert [past and past.seal for past in pasts] == ["491", "new", "499"]
    once_more.remember(PushedSession("p", "k3", "another's", "state", "codex"))
    pasts = [once_more.past("p", FoundLog("", "k3", agent, 0, 0)) for agent in ("codex", "gemini")]
    assert [past and past.seal for past in pasts] == ["another's", "new"], "what is remembered of no agent is of any"
    assert len(file.read_bytes().split()) < 30
    assert file.stat().st_mode & 0o077 == 0


def test_pieces_end_with_lines_and_only_the_last_one_changes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [b"%d " % number * 2000 + b"\n" for number in range(800)]
    log.write_bytes(b"".join(lines))
    before = file_pieces(log)
    assert all(chunk.endswith(b"\n") for chunk in file_chunks(log))
    assert b"".join(file_chunks(log)) == log.read_bytes()
    log.write_bytes(b"".join(lines) + b"one more\n")
    after = file_pieces(log)
    assert len(before) > 4
    assert after[: len(before) - 1] == before[:-1]
    log.write_bytes(b"x" * (10 * 1024 * 1024))
    assert {piece.size for piece in file_pieces(log)} <= {3 * 1024 * 1024, 1024 * 1024}
