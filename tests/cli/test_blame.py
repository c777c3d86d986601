"""`unspool blame`, `why` and `commits` as people see them, and the records that they make for other programs."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.store.index.synced import kept
from tests.store.library.authored import AuthoredRepository
from unspool.store.library.attribution_notes import parse_agent_trace, parse_git_ai


class Written:
    def __init__(self, folder: Path) -> None:
        self.repository = made = AuthoredRepository(folder, 7)
        log = made.session("Build a \x1b[2Jquay\nof granite")
        log.assistant(log.text("Granite it is."))
        made.agent_writes(log)
        made.commit("A quay", log)
        made.person_edits()
        made.commit("By hand")
        self.archive = str(kept(folder, *made.sessions))


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "source"))
    made = Written(tmp_path)
    monkeypatch.chdir(made.repository.top)
    return made


def test_lines_are_told_like_git_blame(written: Written) -> None:
    done = run("blame", "quay.py", "--archive", written.archive)
    assert done.code == 0, done.err
    told = [line.split()[1] for line in done.out.splitlines()]
    assert told == ["exact" if one != "person" else "commit" for one in written.repository.truth]
    by = zip(done.out.splitlines(), written.repository.truth, strict=True)
    assert all("Ana" in line for line, one in by if one == "person")
    assert "\x1b" not in done.out
    assert re.search(r"unspool: \d+ lines?: .*agent \(exact\)", done.err)


def test_some_lines_of_a_commit_as_json(written: Written) -> None:
    found = json.loads(run("blame", "quay.py:1-1", "--at", "HEAD~1", "--archive", written.archive, "--json").out)
    (line,) = found["lines"]
    assert (line["number"], line["who"], line["sure"]) == (1, "agent", "exact")
    change = found["changes"][line["change"]]
    assert (change["session"], change["turn"], change["words"]) == ("session-0", 1, "Granite it is.")


def test_why_tells_the_prompt_and_the_words_before(written: Written) -> None:
    number = next(at for at, one in enumerate(written.repository.truth, 1) if one != "person")
    done = run("why", f"quay.py:{number}", "--archive", written.archive)
    assert done.code == 0, done.err
    assert "of granite" in done.out
    assert "Granite it is." in done.out


@pytest.mark.parametrize("asked", ["quay.py:999", "no-such.py", "quay.py --at 1234567"])
def test_what_is_not_there_is_said(written: Written, asked: str) -> None:
    done = run("blame", *asked.split(), "--archive", written.archive)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("unspool: ")


def test_records_for_other_programs_tell_the_same_lines(written: Written) -> None:
    made = written.repository
    agents = {at for at, one in enumerate(made.truth, 1) if one != "person"}
    head = made.git("rev-parse", "HEAD").strip()
    trace = run("blame", "quay.py", "-f", "agent-trace", "--archive", written.archive)
    record = json.loads(trace.out)
    assert (record["version"], record["vcs"]["revision"]) == ("0.1.0", head)
    ranges = list(parse_agent_trace(trace.out, head))
    assert {number for one in ranges for number in range(one.first, one.last + 1)} == agents
    note = run("blame", "quay.py", "--at", "HEAD~1", "-f", "git-ai", "--archive", written.archive)
    noted = list(parse_git_ai(note.out))
    assert {one.path for one in noted} == {"quay.py"}
    assert all("claude session-0" in one.who for one in noted)


def test_a_note_is_written_only_when_asked_and_never_over_another(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("blame", "quay.py", "--at", "HEAD~1", "-f", "git-ai", "--archive", written.archive)
    assert run("blame", "quay.py", "--write", "--archive", written.archive).code == 2
    run(*arguments)
    assert written.repository.git("for-each-ref", "refs/notes") == ""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ana@example.com")
    assert run(*arguments, "--write").code == 0
    before = written.repository.git("notes", "--ref=ai", "show", "HEAD~1")
    assert before.startswith("quay.py\n  s_")
    again = run(*arguments, "--write")
    assert (again.code, written.repository.git("notes", "--ref=ai", "show", "HEAD~1")) == (2, before)


def test_a_file_that_is_not_here_is_told_as_the_logs_have_it(written: Written) -> None:
    lines = written.repository.path.read_text().splitlines()
    written.repository.path.unlink()
    done = run("blame", "quay.py", "--archive", written.archive, "--json")
    found = json.loads(done.out)["lines"]
    assert {line["text"] for line in found} <= set(lines)
    assert all((line["who"], line["sure"]) == ("agent", "exact") for line in found)


def test_commits_are_listed_with_sessions_and_shares(written: Written) -> None:
    done = run("commits", "--archive", written.archive)
    assert done.code == 0, done.err
    by_hand, agents = done.out.splitlines()[1:]
    assert "0%" in by_hand
    assert "100%" in agents
    assert "session-" in agents
    found = json.loads(run("commits", "HEAD~1", "-n", "1", "--archive", written.archive, "--json").out)["commits"]
    assert [(one["subject"], one["sessions"]) for one in found] == [("A quay", ["session-0"])]


def test_where_there_is_no_repository_or_commit_that_is_said(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("commits", "no-such", "--archive", written.archive).code == 3
    monkeypatch.chdir(tmp_path)
    assert run("commits", "--archive", written.archive).code == 3


def test_a_device_is_no_file(written: Written) -> None:
    done = run("blame", "/dev/null", "--archive", written.archive)
    assert (done.code, done.err) == (3, "unspool: There is no file /dev/null.\n")
