"""Sessions as the app serves them: the site's own pages, and what a server adds to them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of, get
from tests.cli.running import talk
from tests.log_builder.builder import LogBuilder
from tests.site.pages import Read
from unspool.app import open_session, partial_read
from unspool.app import open_session as session_cache
from unspool.app.context import AppContext
from unspool.app.open_session import get_session
from unspool.cli.group import cli
from unspool.figures import figures
from unspool.site import address
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame
from unspool.site.turn_pages import session_folder
from unspool.store.library import Library
from unspool.store.sync import sync


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


def _bare(html: str) -> str:
    """A page without its head, the ways to other parts and sessions, and the app's box on an index."""
    body = html[html.index("<body>") :]
    body = re.sub(r'\s*<nav\s+class="(?:crumbs|ways|sessions-beside)".*?</nav>', "", body, flags=re.S)
    body = body.replace("\n\n", "\n")
    return re.sub(r'<a href="/s/([^/"]+)/"', r'<a href="../\1/index.html"', body)


def _without_inset(html: str) -> str:
    before, inset, after = re.split(r'(<section class="inset".*?</section>)', html, flags=re.S)
    assert "<code" in inset
    return before + after


def test_served_pages_are_the_bytes_of_the_built_site_apart_from_links(app: str) -> None:
    library = Library([demo_source()])
    compared = 0
    for log in library.logs():
        session = library.open(log)
        near = {link.session: f"{link.session}/index.html" for link in session.links}
        frame = Frame("../", (Crumb("Sessions", "index.html"),), near, card="card.png")
        files = session_folder(session, figures(session, library.prices), SiteOptions(), frame)
        for name, data in reversed([(name, data) for name, data in files if name.endswith(".html")]):
            got = get(f"{app}/s/{session.id}/{name}").text
            assert _bare(_without_inset(got) if name == "index.html" else got) == _bare(data.decode()), name
            compared += 1
    assert compared > 20


def test_the_address_without_a_page_is_the_index(app: str) -> None:
    assert get(f"{app}/s/{STORM}/").body == get(f"{app}/s/{STORM}/index.html").body
    assert get(f"{app}/s/{STORM}").body == get(f"{app}/s/{STORM}/").body


def test_every_link_of_a_session_leads_somewhere(app: str) -> None:
    seen: dict[str, Read] = {}
    waiting = [f"/s/{STORM}/index.html"]
    while waiting:
        path = waiting.pop()
        got = get(app + path)
        assert got.status == 200, path
        seen[path] = page = Read(got.text)
        assert not page.faults, (path, page.faults[:3])
        for link in page.links:
            file = link.partition("#")[0]
            near = f"/s/{STORM}/{file}"
            if file.endswith(".html") and "/" not in file and near not in seen and near not in waiting:
                waiting.append(near)
    assert len(seen) >= 5


@pytest.mark.parametrize(
    "path",
    [
        "nope/", "%2e%2e/", f"{STORM}/page-999.html", f"{STORM}/..%2fpage-001.html", f"{STORM}/records.js",
        f"{STORM}/turn/99.md", f"{STORM}/turn/9/1.md", f"{STORM}/raw", f"{STORM}/raw?block=../../etc/passwd",
        f"{STORM}/raw?block=msg-1&log=/etc/passwd", f"{STORM}/%00",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(app: str, path: str) -> None:
    got = get(f"{app}/s/{path}")
    assert got.status == 404
    assert "root:" not in got.text


def test_a_turn_is_markdown(app: str) -> None:
    got = get(f"{app}/s/{STORM}/turn/2.md")
    assert got.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "and show it in centimetres" in got.text
    assert "A gale is forecast" not in got.text
    assert "Make it longer" in get(f"{app}/s/{STORM}/turn/1/7.md").text


def _anchors(html: str, name: str) -> list[str]:
    return re.findall(rf'class="{name}" id="([^"]+)"', html)


def test_the_lines_behind_a_call_are_its_own_and_its_answer_s(app: str) -> None:
    page = get(f"{app}/s/{STORM}/page-001.html").text
    anchor = _anchors(page, "call")[0]
    got = get(f"{app}/s/{STORM}/raw?block={anchor}")
    assert got.status == 200
    assert got.text.count("<section") == 2
    assert f"page-001.html#{anchor}" in got.text
    exact = get(f"{app}/s/{STORM}/raw?block={anchor}&exact")
    log = next(demo_source().rglob(f"{STORM}.jsonl")).read_bytes()
    assert all(line in log for line in exact.body.splitlines())
    assert len(exact.body.splitlines()) == 2
    assert exact.headers["content-disposition"].startswith("attachment")


def test_a_subagent_s_line_is_from_its_own_log(app: str) -> None:
    index = get(f"{app}/s/{STORM}/").text
    agent = re.search(r'href="(agent-[^"#]+\.html)"', index)
    assert agent
    page = get(f"{app}/s/{STORM}/{agent[1]}").text
    anchor = re.findall(r'class="answer" id="([^"]+)"', page)[0]
    exact = get(f"{app}/s/{STORM}/raw?block={anchor}&exact").body.strip()
    assert any(exact in path.read_bytes() for path in demo_source().rglob("agent-*.jsonl"))


def test_an_endless_string_is_cut_where_it_is_shown_and_whole_where_it_is_exact(tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("a" * 50_000).assistant(log.text("b"))
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        page = get(f"{address}/s/{log.session_id}/page-001.html").text
        anchor = re.findall(r'class="prompt" id="([^"]+)"', page)[0]
        assert "46,000 more characters" in get(f"{address}/s/{log.session_id}/raw?block={anchor}").text
        exact = json.loads(get(f"{address}/s/{log.session_id}/raw?block={anchor}&exact").body)
        assert exact["message"]["content"] == "a" * 50_000


def test_the_index_tells_how_to_go_on_and_how_full_the_window_was(app: str) -> None:
    got = get(f"{app}/s/{STORM}/").text
    assert f"--resume {STORM}" in got
    assert got.count("<rect") >= 16
    assert "As a table" in got


def test_the_story_can_be_kept_as_a_picture(app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert '<a href="card.png" download title="This story as a picture">Save card</a>' in get(f"{app}/s/{STORM}/").text
    drawn, png = get(f"{app}/s/{STORM}/card.svg"), get(f"{app}/s/{STORM}/card.png")
    assert drawn.body.startswith(b"<svg")
    assert b"Add the storm surge" in drawn.body
    assert png.body.startswith(b"\x89PNG")
    assert f'filename="{STORM}.png"' in png.headers["content-disposition"]
    monkeypatch.setattr("unspool.app.session_routes.to_png", lambda _: None)
    assert get(f"{app}/s/{STORM}/card.png").status == 404
    assert get(f"{app}/s/nobody/card.svg").status == 404


def test_plan_and_implementation_lead_to_each_other(app: str) -> None:
    library = Library([demo_source()])
    linked = {log.session_id: library.open(log).links for log in library.logs()}
    pairs = [(one, link.session) for one, links in linked.items() for link in links if link.relation == "follow-up"]
    assert pairs
    for earlier, later in pairs:
        assert f'<a href="/s/{later}/"' in get(f"{app}/s/{earlier}/").text
        assert f'<a href="/s/{earlier}/"' in get(f"{app}/s/{later}/").text


def _long(root: Path, turns: int) -> LogBuilder:
    log = LogBuilder(session_id="10000000-0000-4000-8000-000000000000")
    for number in range(turns):
        log.prompt(f"Question {number}").assistant(log.text(f"Answer {number}. " + "Words. " * 200))
    log.write(root)
    return log


def test_the_first_page_of_a_long_session_does_not_wait_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 100_000)
    monkeypatch.setattr(partial_read, "_BEGINNING", 50_000)
    log = _long(tmp_path, 100)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}"
        first = get(f"{base}/page-001.html").text
        assert "data-part" in first
        assert json.loads(get(f"{base}/ready").body) == {"ready": True}
        whole = get(f"{base}/page-001.html").text
        assert "data-part" not in whole
        turns = [html[html.index('<section class="turn"') : html.rindex("</section>")] for html in (first, whole)]
        assert turns[0] == turns[1]
        assert "100 prompts" in whole
        assert "100 prompts" in first


def test_a_late_page_of_a_long_session_does_not_wait_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 100_000)
    log = _long(tmp_path, 100)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}"
        got = get(f"{base}/page-020.html").text
        assert "Question 99" in got
        assert "data-part" in got
        assert json.loads(get(f"{base}/ready").body) == {"ready": True}
        assert _turns(got) == _turns(get(f"{base}/page-020.html").text)


def test_heavy_pages_of_a_long_session_are_the_same_before_the_rest_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 100_000)
    monkeypatch.setattr(address, "HEAVY", 5_000)
    log = _long(tmp_path, 60)
    for page in ("page-003.html", "page-020.html"):
        with served(desk_of(tmp_path / "projects")) as server:
            base = f"{server}/s/{log.session_id}"
            got = get(f"{base}/{page}").text
            assert "data-part" in got
            assert 1 <= len(re.findall('<section class="turn"', got)) < 5
            get(f"{base}/ready")
            assert _turns(got) == _turns(get(f"{base}/{page}").text)


def test_a_session_that_changed_is_read_again(tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("First").assistant(log.text("One"))
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        page = f"{address}/s/{log.session_id}/page-001.html"
        assert "Second" not in get(page).text
        log.prompt("Second").assistant(log.text("Two"))
        log.write(tmp_path)
        assert "Second" in get(page).text


def test_a_session_that_only_the_archive_has_is_read_from_there(tmp_path: Path) -> None:
    log = LogBuilder()
    path = log.prompt("Remember me").assistant(log.text("I do")).write(tmp_path)
    result = CliRunner().invoke(cli, ["sync", "--archive", str(tmp_path / "kept"), "-s", str(tmp_path / "projects")])
    assert result.exit_code == 0, result.output
    with served(AppContext(tmp_path / "kept", [tmp_path / "projects"])) as address:
        base = f"{address}/s/{log.session_id}"
        there = get(f"{base}/page-001.html").text
        anchor = re.findall(r'class="prompt" id="([^"]+)"', there)[0]
        line = get(f"{base}/raw?block={anchor}&exact").body
        assert line in path.read_bytes()
        path.unlink()
        assert _bare(get(f"{base}/page-001.html").text) == _bare(there)
        assert get(f"{base}/raw?block={anchor}&exact").body == line
        assert "Follow live" not in get(f"{base}/").text


def test_a_session_is_found_by_the_index_without_looking_through_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder()
    log.prompt("Where am I?").assistant(log.text("Here")).write(tmp_path)
    CliRunner().invoke(cli, ["sync", "--archive", str(tmp_path / "kept"), "-s", str(tmp_path / "projects")])
    context = AppContext(tmp_path / "kept", [tmp_path / "projects"])
    monkeypatch.setattr(context, "library", lambda: pytest.fail("all sources were looked through"))
    assert get_session(context, log.session_id).session.turns[0].prompt is not None


def test_no_more_is_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    context = desk_of(demo_source())
    found = [log for log in context.library().logs() if log.size > 10_000]
    monkeypatch.setattr(session_cache, "BYTES", found[0].total_size + found[1].total_size)
    shelf = context.part(session_cache.SessionCache)
    for log in found[:3]:
        shelf.whole(context, log)
    assert shelf.ready(found[2]) is not None
    assert shelf.ready(found[0]) is None
    monkeypatch.setattr(session_cache, "BYTES", 1)
    shelf.whole(context, found[0])
    assert shelf.ready(found[0]) is not None
    assert shelf.ready(found[2]) is None


def _synced(tmp_path: Path, log: LogBuilder) -> Path:
    log.write(tmp_path)
    kept = tmp_path / "kept"
    made = CliRunner().invoke(cli, ["sync", "--archive", str(kept), "-s", str(tmp_path / "projects")])
    assert made.exit_code == 0, made.output
    return kept


def _turns(html: str) -> str:
    return html[html.index('<nav class="pager"') : html.rindex("</nav>")]


def _rewound(turns: int) -> LogBuilder:
    """A long log with dead ends inside and at the ends of pages."""
    log = LogBuilder(session_id="10000000-0000-4000-8000-000000000000")
    for number in range(1, turns + 1):
        log.prompt(f"Question {number}").ran(f"look {number}", f"seen {number}")
        fork = log.last
        if number % 7 == 0:
            log.prompt(f"Dead end {number}").assistant(log.text("No")).rewind(fork)
        log.assistant(log.think("Hm"), log.text(f"Answer {number}. " + "Words. " * 40))
        if number % 15 == 0:
            fork = log.last
            log.prompt(f"Dead end at the end {number}").assistant(log.text("No")).rewind(fork)
    return log


def test_any_page_of_a_long_session_that_was_read_before_is_there_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 50_000)
    log = _rewound(61)
    kept, sources = _synced(tmp_path, log), [tmp_path / "projects"]
    first = AppContext(kept, sources)
    told = get_session(first, log.session_id)
    leaves = told.addresses(first.options).live.leaves
    assert len(leaves) == 13
    whole = {leaf.path: get_page(first, log.session_id, leaf.path) for leaf in leaves}
    monkeypatch.setattr(session_cache.SessionCache, "begin", lambda *_: None)
    monkeypatch.setattr(session_cache.SessionCache, "whole", lambda *_: pytest.fail("all of the log was read"))
    again = AppContext(kept, sources)
    for path, html in whole.items():
        part = get_page(again, log.session_id, path)
        assert "data-part" in part
        parts = [re.sub(r'<nav class="branches".*?</nav>', "", _turns(one), flags=re.S) for one in (part, html)]
        assert parts[0] == parts[1], path
        assert _rail(part) == _rail(html)
        assert '<p class="label">61 of 73 prompts</p>' in _rail(part)


def test_the_beginning_of_a_long_session_says_how_many_prompts_all_of_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 50_000)
    monkeypatch.setattr(partial_read, "_BEGINNING", 30_000)
    monkeypatch.setattr(session_cache.SessionCache, "begin", lambda *_: None)
    log = _rewound(61)
    html = get_page(AppContext(_synced(tmp_path, log), [tmp_path / "projects"]), log.session_id, "index.html")
    assert "data-part" in html
    assert " of 73 prompts</p>" in _rail(html)


def _rail(html: str) -> str:
    return html.partition('id="rail"')[2].partition("</nav>")[0]


def get_page(context: AppContext, key: str, path: str) -> str:
    with served(context) as address:
        got = get(f"{address}/s/{key}/{path}")
        assert got.status == 200, got.text
        return got.text


def test_the_folder_of_all_projects_may_be_a_link(tmp_path: Path) -> None:
    log = talk("Where do gulls sleep?")
    log.write(tmp_path / "disk")
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "projects").symlink_to(tmp_path / "disk" / "projects", target_is_directory=True)
    sync(tmp_path / "kept", [tmp_path / "agent"])
    with served(AppContext(tmp_path / "kept", [tmp_path / "agent"])) as address:
        assert "Where do gulls sleep?" in get(f"{address}/s/{log.session_id}/").text
        assert log.session_id in get(f"{address}/sessions").text
