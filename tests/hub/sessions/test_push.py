"""Sessions that are pushed: given back byte for byte, sent once, replaced only by what goes on from them."""

import gzip
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
import zstandard

from tests.hub.running import Answer
from tests.hub.sessions.team import CWD, Machine, Team, kept_texts, passages, sessions
from tests.log_builder.builder import LogBuilder
from tests.share import made
from unspool.demo import write_demo
from unspool.hub.errors import StoreUnavailable
from unspool.hub.people import erasure, holds, users
from unspool.hub.people.users import Person
from unspool.hub.sessions import session_store
from unspool.hub.store.blobs import Blobs
from unspool.hub.store.texts import sweep_parts
from unspool.hub_client import client
from unspool.hub_client.manifest import FilePiece, ManifestFile, file_pieces, make_manifest
from unspool.hub_client.prepare import PushRedaction, prepare_push

KEY = "11111111-2222-4333-8444-555555555555"


def log(text: str = "the tide is high", session: str = KEY) -> LogBuilder:
    built = LogBuilder(session_id=session, cwd=CWD, model="claude-sonnet-4-5")
    return built.prompt(text).assistant(built.text("So it is."))


def sent(machine: Machine, folder: Path) -> dict[str, bytes]:
    """What leaves the machine, by name."""
    edge = PushRedaction(machine.pusher().edge(machine.project).policy, machine.key)
    return {
        name: path.read_bytes()
        for found in machine.library().logs()
        for name, path in prepare_push(found, edge, folder / found.session_id).files
    }


def kept(machine: Machine, session: str) -> dict[str, bytes]:
    """What the hub gives back, by name."""
    files = machine.member.get(f"/api/archive/{session}/files").json["files"]
    return {one["name"]: machine.member.get(f"/api/archive/{session}/files/{one['name']}").body for one in files}


def test_what_was_pushed_is_given_back_byte_for_byte(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    made.session().write(machine.source)
    write_demo(machine.source)
    done = machine.push()
    assert {one.outcome for one in done} == {"pushed"}
    listed = sessions(machine)
    assert {one["key"] for one in listed} == {found.session_id for found in machine.library().logs()}
    given = {name: data for one in listed for name, data in kept(machine, str(one["id"])).items()}
    assert given == sent(machine, tmp_path / "again")
    assert not [secret for secret in made.SECRETS.values() if any(secret.encode() in data for data in given.values())]
    whole = machine.member.get(f"/api/archive/{listed[0]['id']}/log")
    assert whole.body == given[f"{listed[0]['key']}.jsonl"]
    assert whole.headers["content-length"] == str(len(whole.body))


def test_a_second_push_sends_nothing_but_one_question(machine: Machine) -> None:
    log().write(machine.source)
    assert [one.outcome for one in machine.push()] == ["pushed"]
    assert machine.push() == []
    assert [method for method, _ in machine.client.requests] == ["GET", "POST"]
    assert machine.client.requests[1][1].endswith("/have")
    assert machine.client.bytes < 200


def test_what_is_appended_sends_only_the_tail(machine: Machine) -> None:
    built = log()
    for number in range(90):
        built.prompt(f"Turn {number}").assistant(
            built.text(" ".join(f"tide{number * 7 + at * 13}" for at in range(5000)))
        )
    built.write(machine.source)
    (first,) = machine.push()
    assert first.pieces > 4
    built.prompt("And on").write(machine.source)
    (second,) = machine.push()
    assert second.pieces == 1
    assert second.sent < first.sent / 3
    (one,) = sessions(machine)
    assert one["turns"] == 92
    assert kept(machine, str(one["id"])).keys() == {f"{KEY}.jsonl"}


def test_a_session_that_grew_is_found_as_if_it_had_come_whole(crew: Team, tmp_path: Path) -> None:
    grown, whole = Machine(crew.member("anne"), tmp_path / "anne"), Machine(crew.member("bert"), tmp_path / "bert")
    built = made.session()
    for words in ("the first words", "the second", "the third"):
        built.prompt(words).assistant(built.text(f"{words} are said")).write(grown.source)
        grown.push()
    built.write(whole.source)
    whole.push()
    one, other = (sorted(map(repr, passages(machine))) for machine in (grown, whole))
    assert one == other
    assert len(one) > 10
    found = [machine.member.get("/api/search?q=third&limit=1").json["found"] for machine in (grown, whole)]
    assert found[0]
    assert found[0][0]["hits"][0]["snippet"] == found[1][0]["hits"][0]["snippet"]


def test_placeholders_are_the_same_in_every_push_and_tell_nothing(machine: Machine, tmp_path: Path) -> None:
    built = made.session()
    built.write(machine.source)
    before = sent(machine, tmp_path / "before")
    built.prompt(f"Again {made.SECRETS['prompt']} and {made.SECRETS['output']}").write(machine.source)
    after = sent(machine, tmp_path / "after")
    name = f"{made.SESSION}.jsonl"
    assert after[name].startswith(before[name])
    assert after[name].count(b"[redacted:anthropic-key-") == 2
    other = Machine(machine.member, machine.folder, key=b"o" * 32)
    assert sent(other, tmp_path / "other")[name] != after[name]


def test_a_log_that_was_rewritten_loses_nothing(machine: Machine) -> None:
    log("the first telling of it").write(machine.source)
    machine.push()
    (one,) = sessions(machine)
    before = kept(machine, str(one["id"]))[f"{KEY}.jsonl"]
    log("another telling").write(machine.source)
    machine.push()
    files = kept(machine, str(one["id"]))
    assert files.keys() == {f"{KEY}.jsonl", f"{KEY}.jsonl~1"}
    assert files[f"{KEY}.jsonl~1"] == before
    assert b"another telling" in files[f"{KEY}.jsonl"]
    assert machine.member.get("/api/search?q=first").json["found"] == []
    sweep_parts(machine.member.store.db)
    assert {session for (session,) in machine.member.store.db.rows("SELECT session FROM text_part")} == {one["id"]}
    assert any("another telling" in str(row[3]) for row in passages(machine))
    assert b"another telling" in kept_texts(machine)
    assert b"first telling" not in kept_texts(machine)
    assert len(sessions(machine)) == 1


def test_an_older_log_does_not_take_the_place_of_a_longer_one(machine: Machine, tmp_path: Path) -> None:
    short = log()
    short.write(machine.source)
    old = Machine(machine.member, tmp_path / "old")
    short.write(old.source)
    short.prompt("And more").write(machine.source)
    machine.push()
    (done,) = old.push()
    assert done.outcome == "pushed"
    (one,) = sessions(machine)
    assert one["turns"] == 2
    assert old.push() == []


def test_the_hub_refuses_what_holds_a_secret_and_names_the_place(machine: Machine) -> None:
    secret = made.SECRETS["prompt"]
    built = log(f"my key is {secret}")
    path = built.write(machine.source)
    answer = push_raw(machine, path.read_bytes())
    assert answer.status == 422
    assert "anthropic-key" in str(answer.json["reason"])
    assert f"{KEY}.jsonl, line 1 (message.content" in str(answer.json["reason"])
    assert secret not in answer.body.decode()
    assert sessions(machine) == []
    assert machine.rows("blob") == 0
    assert machine.rows("sent") == 0


def test_a_secret_that_only_the_bytes_hold_is_found_too(machine: Machine) -> None:
    hidden = f'{{"type":"user","note":"{made.SECRETS["prompt"]}","note":"nothing"}}\n'.encode()
    assert push_raw(machine, hidden).status == 422
    assert push_raw(machine, gzip.compress(hidden)).status == 400
    assert push_raw(machine, zstandard.compress(hidden)).status == 400
    assert sessions(machine) == []


def push_raw(machine: Machine, data: bytes, name: str = f"{KEY}.jsonl", key: str = KEY) -> Answer:
    """Push bytes as they are, as a client without manners does."""
    digest = sha256(data).hexdigest()
    way = "/api/projects/harbour"
    put = machine.member.client.ask("PUT", f"{way}/blobs/{digest}", zstandard.compress(data))
    assert put.status == 204, put.body
    whole = make_manifest(key, [ManifestFile(name, (FilePiece(digest, len(data)),))])
    return machine.member.client.send("POST", f"{way}/sessions", msgspec.to_builtins(whole))


def test_pieces_that_others_sent_are_not_told_of(small_crew: Team, machine: Machine, tmp_path: Path) -> None:
    path = log().write(machine.source)
    machine.push()
    (piece,) = file_pieces(path)
    asked = {"digests": [piece.digest]}
    mine = machine.member.client.send("POST", "/api/projects/harbour/have", asked)
    other = small_crew.member("bert").client.send("POST", "/api/projects/harbour/have", asked)
    assert mine.json["lacks"] == []
    assert other.json["lacks"] == [piece.digest]


def test_somebody_who_names_a_piece_of_another_has_to_send_it(small_crew: Team, machine: Machine) -> None:
    path = log().write(machine.source)
    machine.push()
    whole = make_manifest(KEY, [ManifestFile(f"{KEY}.jsonl", file_pieces(path))])
    bert = small_crew.member("bert")
    answer = bert.client.send("POST", "/api/projects/harbour/sessions", msgspec.to_builtins(whole))
    assert answer.status == 202
    assert answer.json["lacks"] == [whole.files[0].pieces[0].digest]
    assert len(sessions(machine)) == 1


def test_a_session_that_was_erased_is_not_taken_again(small_crew: Team, machine: Machine) -> None:
    built = log()
    built.write(machine.source)
    machine.push()
    (one,) = sessions(machine)
    erasure.erase_permanently(small_crew.store, Person("x", "admin", admin=True), "session", str(one["id"]))
    built.prompt("more").write(machine.source)
    (done,) = machine.push()
    assert (done.outcome, "erased" in done.reason) == ("refused", True)
    assert sessions(machine) == []


def test_a_log_of_rubbish_is_kept_as_it_is(machine: Machine) -> None:
    data = b'\x00\xff rubbish\n{"type":"user"}\n[1,2\n' + b"\xe2\x28" * 50
    assert push_raw(machine, data).status == 200
    (one,) = sessions(machine)
    assert kept(machine, str(one["id"])) == {f"{KEY}.jsonl": data}


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (session_store, "assemble_file"),
        (Blobs, "keep_file"),
        (session_store, "write_texts"),
        (users, "check_quota"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_whatever_fails_on_the_way_leaves_nothing_to_be_seen(
    crew: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    built = log("the first words of all")
    path = built.write(machine.source)
    machine.push()
    before = (sessions(machine), [machine.rows(table) for table in TABLES])
    built.prompt("the second words").write(machine.source)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        assert push_raw(machine, path.read_bytes()).status == 503
    assert (sessions(machine), [machine.rows(table) for table in TABLES]) == before
    assert machine.member.get("/api/search?q=second").json["found"] == []
    assert push_raw(machine, path.read_bytes()).status == 200
    assert len(machine.member.get("/api/search?q=second").json["found"]) == 1


TABLES = ("session", "piece", "session_page", "session_text", "text_part", "request")


def failing(*_: object, **__: object) -> None:
    raise StoreUnavailable("The database does not answer.")


def test_pieces_that_were_swept_meanwhile_are_sent_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    log().write(machine.source)
    real = machine.client.send
    swept_: list[str] = []

    def send(
        method: str, path: str, sent: client.UploadBody | None = None, headers: Mapping[str, str] | None = None
    ) -> client.HubAnswer:
        if path.endswith("/sessions") and not swept_:
            swept_.extend(digest for (digest,) in machine.member.store.db.rows("SELECT digest FROM blob"))
            assert all(map(machine.member.store.blobs.drop, swept_))
        return real(method, path, sent, headers)

    monkeypatch.setattr(machine.client, "send", send)
    (done,) = machine.push()
    assert (done.outcome, done.pieces, len(swept_)) == ("pushed", 2, 1)
    assert len(sessions(machine)) == 1


def test_a_session_under_a_legal_hold_may_go_on_and_loses_nothing(small_crew: Team, machine: Machine) -> None:
    built = log()
    built.write(machine.source)
    machine.push()
    (one,) = sessions(machine)
    before = kept(machine, str(one["id"]))[f"{KEY}.jsonl"]
    holds.place_hold(small_crew.store.db, Person("x", "admin", admin=True), ("session", str(one["id"])), "a case")
    built.prompt("more").write(machine.source)
    machine.push()
    log("something else").write(machine.source)
    machine.push()
    assert any(data.startswith(before) for data in kept(machine, str(one["id"])).values())
    assert len(kept(machine, str(one["id"]))) == 2


def test_a_hostile_session_is_taken_as_it_is(crew: Team, tmp_path: Path) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    bad = "\ud800 \0 <script>alert(1)</script> \x1b[31m "
    usage = {"input_tokens": 10**18 - 1, "output_tokens": -5}
    said = {"id": "m1", "role": "assistant", "model": "m" * 9000 + bad, "content": [{"type": "text", "text": bad}]}
    asked = {"role": "user", "content": f"{bad} tidemark"}
    told = {"sessionId": KEY, "slug": "s" * 9000, "gitBranch": bad * 900, "cwd": "/srv"}
    first = {"type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-01-01T00:00:00Z", "message": asked}
    then = {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "timestamp": "9999-12-31T23:59:59Z"}
    lines = ({**told, **first}, {**told, **then, "message": {**said, "usage": usage}})
    line = "".join(f"{json.dumps(one)}\n" for one in lines)
    assert push_raw(machine, line.encode()).status == 200
    (one,) = sessions(machine)
    assert kept(machine, str(one["id"])) == {f"{KEY}.jsonl": line.encode()}
    (found,) = machine.member.get("/api/search?q=tidemark").json["found"]
    assert "tidemark" in found["hits"][0]["snippet"]["text"]
    for path in (
        f"/sessions/{one['id']}/",
        "/api/usage?by=week",
        "/api/usage?by=model",
        f"/api/archive/{one['id']}/story",
    ):
        answer = machine.member.get(path)
        assert answer.status == 200
        assert b"<script>alert" not in answer.body or path.startswith("/api/")


def test_a_quota_holds(small_crew: Team, machine: Machine) -> None:
    small_crew.store.db.run("UPDATE person SET quota = 2000 WHERE id = ?", machine.member.id)
    log("x" * 1500).write(machine.source)
    log("short", "22222222-2222-4333-8444-555555555555").write(machine.source)
    outcomes = sorted(one.outcome for one in machine.push())
    assert outcomes == ["pushed", "refused"]
    assert len(sessions(machine)) == 1
