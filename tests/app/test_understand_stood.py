"""A file as it stood after any edit, on a real server over a really synced source."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.app.asking import NOW, Site, site
from tests.log_builder.builder import LogBuilder

TILL, COUNT = "/home/dev/shop/till.py", "/home/dev/shop/count.py"
ENDLESS = "all work and no play\n" * 60_000
FIRST, SECOND = "open = 1\nprice = 2\n", "open = 1\nprice = 3\n"


def writes() -> LogBuilder:
    """Writes a file, edits it, and reads a part of another."""
    log = LogBuilder(session_id="writes", cwd="/home/dev/shop", start=NOW - timedelta(days=2))
    log.prompt("Write it.").wrote(TILL, FIRST).edited(TILL, FIRST, "price = 2", "price = 3")
    part = {"filePath": "/part.py", "content": "b", "numLines": 1, "startLine": 2, "totalLines": 9}
    log.call("Read", {"file_path": "/part.py"}, "     2→b", {"type": "text", "file": part})
    return log.title("First <i>till</i>")


def blind(log: LogBuilder, path: str, old: str, new: str) -> LogBuilder:
    """An edit of which the log keeps nothing but what was asked."""
    return log.call("Edit", {"file_path": path, "old_string": old, "new_string": new}, "Done.", {"filePath": path})


def later() -> LogBuilder:
    """Edits it on, without a word of what it was; and a file that nobody wrote."""
    log = LogBuilder(session_id="later", cwd="/home/dev/shop", start=NOW - timedelta(days=1))
    blind(blind(log.prompt("On."), TILL, "open = 1", "open = 0"), "/lost.py", "x", "<script>alert(1)</script>")
    use = log.agent_use("Explore", "look", "Look.")
    log.assistant(use).subagent(use, "Explore", "look", lambda child: child.wrote("/agent.py", "mine = 1\n"))
    return log.title("Later")


def aside() -> LogBuilder:
    """Edits files that the agent had put aside: one whole, one that was not there, one whose copy is gone."""
    log = LogBuilder(session_id="aside", cwd="/home/dev/shop", start=NOW - timedelta(hours=5)).prompt("Mend.")
    time = log.now.isoformat()
    names = {"kept.py": "aa@v1", "new.py": None, "gone.py": "bb@v1"}
    backups = {path: {"backupFileName": name, "version": 1, "backupTime": time} for path, name in names.items()}
    log.side("file-history-snapshot", messageId=log.last, snapshot={"trackedFileBackups": backups})
    log.file(f"file-history/{log.session_id}/aa@v1", b"a = 1\nb = 2\n")
    for path in names:
        blind(log, f"/home/dev/shop/{path}", "" if path == "new.py" else "b = 2", "b = 3")
    return log.wrote("/home/dev/shop/endless.txt", ENDLESS)


def often() -> LogBuilder:
    """Writes a file and edits it ninety times."""
    log = LogBuilder(session_id="often", cwd="/home/dev/shop", start=NOW - timedelta(hours=3)).prompt("Count.")
    log.wrote(COUNT, "n = 0\n")
    for number in range(90):
        log.edited(COUNT, f"n = {number}\n", f"n = {number}", f"n = {number + 1}")
    return log.title("Often")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("stood"), writes(), later(), aside(), often()) as opened:
        yield opened


def times(app: Site, path: str) -> list[str]:
    """Where the file is shown as it stood, the newest time first."""
    return re.findall(r'class="then" href="([^"]*)"', app.get("/files", path=path).text.replace("&amp;", "&"))


def then(app: Site, where: str) -> str:
    """The file itself."""
    got = app.get(where.replace("/files/at?", "/files/at.txt?"))
    assert got.status == 200, got.said
    return got.text


def test_every_time_of_a_file_has_the_file_as_it_stood(app: Site) -> None:
    last, edited, written = times(app, TILL)
    assert then(app, written) == FIRST
    assert then(app, edited) == SECOND
    assert then(app, last) == SECOND.replace("open = 1", "open = 0")


def test_the_page_shows_the_change_and_the_whole_file(app: Site) -> None:
    _, edited, _ = times(app, TILL)
    got = app.get(edited)
    assert got.status == 200
    assert "change 2 of 3" in got.said
    assert "Write it." in got.said
    assert "What changed" in got.said
    assert "open = 1 price = 3" in " ".join(got.said.split())
    assert "<del>" in got.text
    assert "First <i>" not in got.text
    (before,) = re.findall(r'href="([^"]*)" rel="prev"', got.text.replace("&amp;", "&"))
    assert then(app, before) == FIRST
    (after,) = re.findall(r'href="([^"]*)" rel="next"', got.text.replace("&amp;", "&"))
    assert then(app, after) == SECOND.replace("open = 1", "open = 0")


def test_the_states_of_a_file_are_links_the_oldest_first(app: Site) -> None:
    got = app.get("/files", path=TILL).text.replace("&amp;", "&")
    bars = re.findall(r'<a href="([^"]*)" title="([^"]*)"', got)
    assert [href for href, _ in bars] == times(app, TILL)[::-1]
    assert [says.rpartition(" · ")[2] for _, says in bars] == ["+2 −0", "+1 −1", "+1 −1"]


def test_a_change_has_its_prompt_its_session_and_its_lines(app: Site) -> None:
    got = app.get("/files", path=TILL)
    assert "3 changes in 2 sessions +4 −2" in got.said
    newest, second, first = got.text.split('<article class="change"')[1:]
    assert "On." in newest
    assert ">Later<" in newest
    assert "Write it." in second
    assert "First &lt;i&gt;till&lt;/i&gt;" in second
    assert "<i>2 +</i>price = <mark>3</mark>" in second
    assert "price = 2" in first
    (turn,) = set(got.links("/s/later/at/"))
    assert "On." in app.get(turn).said


def test_lines_that_are_not_there_at_once_can_be_had(app: Site) -> None:
    newest, *_ = times(app, TILL)
    part = app.get(newest.replace("/files/at?", "/files/diff?"))
    assert part.status == 200
    assert "<ins>" in part.text
    assert "<html" not in part.text


def test_a_file_that_changed_very_often_is_told_page_by_page(app: Site) -> None:
    first = app.get("/files", path=COUNT)
    assert "91 changes in 1 session" in first.said
    assert (first.text.count("<article"), first.text.count('class="panel diff"')) == (40, 3)
    assert 'id="change-91"' in first.text
    found, got = first.text.count("<article"), first
    while more := re.findall(r'href="([^"]*)" rel="next"', got.text.replace("&amp;", "&")):
        got = app.get(more[0])
        found += got.text.count("<article")
    assert found == 91
    assert 'id="change-1"' in got.text
    assert app.get("/files", path=COUNT, page=10**9).status == 200


def test_every_line_names_who_asked_for_it(app: Site) -> None:
    got = app.get("/files", path=TILL, view="lines")
    first, second = got.text.split('<li class="by-')[1:]
    assert "On." in first
    assert "open = 0" in first
    assert "Write it." in second
    assert "price = 3" in second
    assert "no log holds the whole file" in app.get("/files", path="/lost.py", view="lines").said


def test_lines_that_no_call_put_there_are_said_to_be_so(app: Site) -> None:
    got = app.get("/files", path="/home/dev/shop/kept.py", view="lines").text
    before, asked = got.split('<li class="by-')[1:]
    assert before.startswith("before")
    assert "Before the first session" in before
    assert "a = 1" in before
    assert asked.startswith("change")
    assert "b = 3" in asked


def test_what_another_session_left_is_said_to_be_borrowed(app: Site) -> None:
    last, edited, _ = times(app, TILL)
    assert "is what “First <i>till</i>” left" in app.get(last).said
    assert "left; anything" not in app.get(edited).said


def test_a_file_that_no_log_holds_is_not_known_and_not_invented(app: Site) -> None:
    (lost,) = times(app, "/lost.py")
    got = app.get(lost)
    assert "Not known" in got.said
    assert "<script>alert" not in got.text
    assert app.get(lost.replace("/files/at?", "/files/at.txt?")).status == 404
    (part,) = times(app, "/part.py")
    assert "only a part of it was read" in app.get(part).said


def test_what_the_agent_put_aside_tells_what_a_file_was(app: Site) -> None:
    (kept,), (new,), (gone,) = (times(app, f"/home/dev/shop/{name}.py") for name in ("kept", "new", "gone"))
    assert then(app, kept) == "a = 1\nb = 3\n"
    assert then(app, new) == "b = 3"
    assert "Not known" in app.get(gone).said


def test_of_an_endless_file_the_beginning_is_shown_and_all_of_it_can_be_had(app: Site) -> None:
    (endless,) = times(app, "/home/dev/shop/endless.txt")
    got = app.get(endless)
    assert "Only the beginning is shown" in got.said
    assert len(got.text) < 1_500_000
    assert then(app, endless) == ENDLESS


def test_what_a_subagent_wrote_is_known(app: Site) -> None:
    (own,) = times(app, "/agent.py")
    assert then(app, own) == "mine = 1\n"


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"path": TILL},
        {"path": TILL, "s": "writes"},
        {"path": TILL, "s": "writes", "place": "1"},
        {"path": TILL, "s": "../..", "place": "0"},
        {"path": "/etc/passwd", "s": "writes", "place": "0"},
        {"path": TILL, "s": "writes", "place": "9" * 400},
        {"path": TILL, "s": "nobody", "place": "0", "agent": "../x"},
    ],
)
def test_nothing_but_calls_of_sessions_has_an_address(app: Site, query: dict[str, str]) -> None:
    assert app.get("/files/at", **query).status == 404
    assert app.get("/files/at.txt", **query).status == 404
    assert app.get("/files/diff", **query).status == 404
