"""Home, sessions and projects, on a real server over a really synced source, without a script."""

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.asking import NOW
from tests.app.browsing import Browsed, browsed
from tests.app.serving import served
from tests.cli.running import talk
from tests.log_builder.builder import LogBuilder
from unspool.app.context import AppContext
from unspool.app.project_list import ProjectFigures, ProjectList, project_slug

EVERY = {"shop", "harbour", "plan", "work"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsed]:
    """Nobody marks anything here."""
    with browsed(tmp_path_factory.mktemp("browse")) as opened:
        yield opened


def test_home_shows_the_newest_by_day_and_what_was_done(app: Browsed) -> None:
    got = app.get("/")
    assert got.status == 200
    assert app.keys("/")[0] == "harbour"
    assert set(app.keys("/")) == EVERY
    assert "4 sessions, all kept" in got.said
    assert "This week" in got.said
    assert re.search(r"last sync \d+ s ago", got.said)
    assert set(got.links("/projects/")) >= {
        f"/projects/{project_slug(path)}" for path in ("/home/dev/shop", "/home/dev/harbour")
    }


def test_where_the_last_work_is_weeks_old_it_is_told_what_it_cost_then(tmp_path: Path) -> None:
    log = LogBuilder(session_id="old", cwd="/home/dev/old", start=datetime.now(UTC) - timedelta(days=60))
    log.prompt("Long ago").assistant(log.text("Yes."))
    with browsed(tmp_path, log) as opened:
        said = opened.get("/").said
    assert "In a year" in said
    assert "Tokens in all" in said
    assert "Today" not in said
    assert "This week" not in said


def test_a_day_of_the_year_leads_to_as_many_sessions_as_it_tells(tmp_path: Path) -> None:
    noon = datetime.now(UTC).astimezone().replace(hour=12, minute=0)
    logs = []
    for name, ago in (("one", 40), ("two", 40), ("three", 50), ("old", 500)):
        log = LogBuilder(session_id=name, cwd="/home/dev/year", start=noon - timedelta(days=ago)).prompt(f"go {name}")
        logs.append(log.assistant(log.text("Yes.")))
    with browsed(tmp_path, *logs) as app:
        for way in ("/", "/stats"):
            got = app.get(way)
            most = noon - timedelta(days=40)
            assert f"2 days of the last 12 months; most on {most.day} {most:%b %Y}: 2 sessions." in got.said
            day = f"{most:%Y-%m-%d}"
            (href,) = got.links(f"/sessions?since={day}&until={day}")
            assert set(app.keys(href)) == {"one", "two"}
        for shade, words in (("tokens", "tokens"), ("cost", "$"), ("<b>", "2 sessions")):
            assert words in app.get(f"/stats?heat={quote(shade)}").said


def test_a_session_that_is_being_written_is_active(tmp_path: Path) -> None:
    log = LogBuilder(session_id="now", start=datetime.now(UTC) - timedelta(seconds=20)).prompt("go")
    with browsed(tmp_path, log.assistant(log.text("Yes."))) as app:
        assert "Active now" in app.get("/").said
        assert "● active" in app.get("/sessions").said


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, EVERY),
        ({"q": "tides"}, {"harbour"}),
        ({"q": "TIDES"}, {"harbour"}),
        ({"q": "100%_"}, set()),
        ({"project": project_slug("/home/dev/shop")}, {"shop"}),
        ({"project": "/home/dev/s"}, {"shop"}),
        ({"kind": "planning"}, {"plan"}),
        ({"kind": "implementation"}, {"work"}),
        ({"kind": "nonsense"}, EVERY),
        ({"model": "haiku"}, {"harbour"}),
        ({"model": "nobody"}, set()),
        ({"since": "1d"}, {"harbour"}),
        ({"until": (NOW - timedelta(days=20)).date().isoformat()}, {"shop"}),
        ({"since": (NOW - timedelta(days=4)).date().isoformat(), "kind": "planning"}, {"plan"}),
        ({"starred": "1"}, set()),
        ({"tag": "x"}, set()),
        ({"page": "99"}, set()),
        ({"page": "-1"}, EVERY),
    ],
)
def test_filters_leave_what_they_ask_for(app: Browsed, query: dict[str, str], expected: set[str]) -> None:
    assert app.get("/sessions", **query).status == 200
    assert set(app.keys("/sessions", **query)) == expected


def test_sorting_is_by_what_is_asked_for(app: Browsed) -> None:
    assert app.keys(sort="oldest")[0] == "shop"
    assert app.keys(sort="turns")[0] == "shop"
    titles = [_titles(app)[key] for key in app.keys(sort="title")]
    assert titles == sorted(titles, key=str.casefold)
    assert app.keys(sort="nonsense") == app.keys()


def _titles(app: Browsed) -> dict[str, str]:
    found = re.findall(r'data-key="(\w+)">\s*<a class="title"[^>]*>(.*?)</a>', app.get("/sessions").text)
    return {key: title.replace("&lt;", "<").replace("&gt;", ">") for key, title in found}


def test_a_date_that_means_nothing_is_said_and_left_out(app: Browsed) -> None:
    got = app.get("/sessions", since="the day before")
    assert got.status == 200
    assert "since the day before is neither a date" in got.said
    assert set(app.keys("/sessions", since="the day before")) == EVERY


def test_a_row_tells_what_happened_and_where(app: Browsed) -> None:
    said = app.get("/sessions", q="checkout").said
    for words in ("Slow <b>checkout</b>", "8 prompts", "1 failed", "⎇ main", "1 file"):
        assert words in said
    assert "<b>checkout</b>" not in app.get("/sessions").text


def test_a_plan_and_its_work_lead_to_each_other(app: Browsed) -> None:
    rows = {part.split('"')[0]: part for part in app.get("/sessions").text.split('data-key="')[1:]}
    assert re.search(r'href="/s/plan/"[^>]*>continues', rows["work"])
    assert re.search(r'href="/s/work/"[^>]*>continued by', rows["plan"])


def test_every_link_of_the_lists_leads_somewhere(app: Browsed) -> None:
    links = {link for where in ("/", "/sessions", "/projects") for link in app.get(where).links("/")}
    wanted = {link for link in links if link.startswith(("/sessions", "/projects", "/s/", "/marks", "/settings"))}
    assert len(wanted) > 20
    assert {link for link in wanted if app.get(link).status != 200} == set()


def test_projects_are_sorted_and_narrowed(app: Browsed) -> None:
    names = ["harbour", "lamp", "shop"]
    assert _projects(app, sort="name") == names
    assert _projects(app)[0] == "harbour"
    assert _projects(app, sort="sessions")[0] == "lamp"
    assert _projects(app, q="SHO") == ["shop"]
    assert "No project fits" in app.get("/projects", q="zzz").said


def _projects(app: Browsed, **query: str) -> list[str]:
    return re.findall(r'<a class="title" href="/projects/[^"]*">(\w+)</a>', app.get("/projects", **query).text)


def test_a_project_has_its_sessions_and_its_address_is_its_alone(app: Browsed) -> None:
    got = app.get(f"/projects/{project_slug('/home/dev/lamp')}")
    assert got.status == 200
    assert "/home/dev/lamp" in got.said
    assert set(app.keys(f"/projects/{project_slug('/home/dev/lamp')}")) == {"plan", "work"}
    assert project_slug("/a/lamp") != project_slug("/b/lamp")
    assert re.fullmatch(r"[A-Za-z0-9-]+", project_slug("/päth/../<b>\udc80"))
    assert app.get("/projects/..%2f..%2fetc").status == 404


def test_a_hidden_project_is_out_of_the_lists_until_it_is_shown(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        place = f"/projects/{project_slug('/home/dev/lamp')}"
        answer = app.post(f"{place}/hide", hidden="1", back="/projects")
        assert (answer.status, answer.headers["location"]) == (303, "/projects")
        assert set(app.keys()) == set(app.keys("/")) == EVERY - {"plan", "work"}
        assert "Hidden: 1" in app.get("/projects").said
        assert set(app.keys(place)) == {"plan", "work"}
        app.post(f"{place}/hide", hidden="0")
        assert set(app.keys()) == EVERY


def test_sessions_without_a_conversation_are_listed_only_when_asked_for(tmp_path: Path) -> None:
    empty = LogBuilder(session_id="nothing").side("summary", summary="x", leafUuid="y")
    full = LogBuilder(session_id="full").prompt("go")
    with browsed(tmp_path, empty, full) as app:
        assert app.keys() == ["full"]
        assert set(app.keys(kind="any")) == {"full", "nothing"}


def test_one_session_with_two_logs_is_listed_once(tmp_path: Path) -> None:
    log = LogBuilder(session_id="twice", cwd="/home/dev/one", start=NOW - timedelta(days=2)).prompt("go")
    path = log.write(tmp_path / "source")
    other = path.parent.parent / "-work-two" / path.name
    other.parent.mkdir()
    shutil.copy(path, other)
    with browsed(tmp_path, log) as app:
        assert app.keys() == ["twice"]


def test_text_from_a_log_stays_text_on_every_page(tmp_path: Path) -> None:
    bad = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    log = LogBuilder(session_id="bad", cwd=f"/home/dev/{bad}", branch=bad).prompt(bad).title(bad)
    with browsed(tmp_path, log) as app:
        app.post("/marks/bad", title=bad, tags=bad, note=bad)
        app.post("/saved", name=bad, query=f"q={bad}")
        places = ("/", "/sessions", "/projects", f"/projects/{project_slug(f'/home/dev/{bad}')}", "/marks/bad")
        for where in (*places, "/sessions?q=%22%3E%3Cscript%3Ealert(1)", "/projects?q=%22%3E%3Cscript%3Ealert(1)"):
            text = app.get(where).text
            assert "<script>alert" not in text
            assert "<img src=x" not in text


def test_before_there_are_sessions_the_page_says_what_is_read_and_shows_the_demo(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with served(AppContext(tmp_path / "archive", [tmp_path / "source"])) as address:
        app = Browsed(address)
        for where in ("/", "/sessions", "/projects"):
            said = app.get(where).said
            assert str(tmp_path / "source") in said
            assert "Nothing leaves this machine" in said
            assert "Show the demo" in said
        assert app.post("/demo").status == 303
        assert "Leave the demo" in app.get("/").said
        assert "harbour" in app.get("/projects").said
        assert app.post("/demo/leave").status == 303
        assert "Show the demo" in app.get("/").said
    assert not (tmp_path / "archive").exists()
    assert list((tmp_path / "source").iterdir()) == []


def test_logs_that_are_not_synced_yet_are_told(tmp_path: Path) -> None:
    LogBuilder().prompt("go").write(tmp_path / "source")
    with served(AppContext(tmp_path / "archive", [tmp_path / "source"])) as address:
        said = Browsed(address).get("/").said
        assert "1 log was found" in said
        assert "Show the demo" not in said


def test_a_form_leads_only_to_pages_of_this_server(tmp_path: Path) -> None:
    with browsed(tmp_path) as app:
        for back in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y"):
            assert app.post("/marks/shop", star="1", back=back).headers["location"] == "/s/shop/"


@pytest.mark.parametrize("where", ["/sessions", "/projects", "/marks/shop", "/settings", "/projects/x"])
def test_no_address_breaks_a_page(app: Browsed, where: str) -> None:
    odd = (
        "%00",
        "%ff",
        "%ed%a0%80",
        "%25",
        "'",
        '"',
        "\\",
        "a" * 5000,
        "9" * 400,
        "2026-13-45",
        "0001-01-01",
        "9999-12-31",
    )
    names = ("q", "project", "kind", "model", "since", "until", "tag", "sort", "page", "part", "back", "starred")
    for value in odd:
        for name in names:
            assert app.get(f"{where}?{name}={quote(value, safe='%')}").status in (200, 404)
        for place in ("/marks", "/projects"):
            assert app.get(f"{place}/{quote(value, safe='%')}").status == 404


def test_a_form_of_any_kind_is_answered(tmp_path: Path) -> None:
    many = tuple((f"f{at}", "x") for at in range(1000))
    odd = (("name", "\0\ud800"), ("note", "\0\ud800"), ("theme", "\0\ud800"), ("query", "\0\ud800"))
    with browsed(tmp_path) as app:
        for where in ("/marks/shop", "/saved", "/settings", f"/projects/{project_slug('/home/dev/shop')}/hide"):
            assert app.post(where, *many).status == 400
            assert app.post(where, *odd).status in (303, 400)


def test_projects_of_the_same_name_are_told_apart_everywhere(tmp_path: Path) -> None:
    """By as much of their paths as differs; others keep their short names."""
    places = ("/home/dev/work/api", "/home/dev/play/api", "/srv/x/play/api", "/home/dev/shop")
    with browsed(tmp_path, *(talk("Waves", f"s{at}", cwd=place) for at, place in enumerate(places))) as app:
        for page in ("/", "/sessions", "/projects"):
            said = app.get(page).said.split()
            for label in ("work/api", "dev/play/api", "x/play/api", "shop"):
                assert label in said, (page, label)
            assert "api" not in said, page


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=12))
def test_labels_differ_and_end_their_paths(parts: list[list[str]]) -> None:
    paths = {f"/{'/'.join(one)}" for one in parts}
    shelf = ProjectList(ProjectFigures(path) for path in paths)
    labels = {path: shelf.label(path) for path in paths}
    assert len(set(labels.values())) == len(paths)
    assert all(path.endswith(label) for path, label in labels.items())
