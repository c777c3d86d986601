"""Pages of sessions: whole, well formed, escaped, each thing in its place."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session as session_of
from tests.site.pages import NOON, Read, broken, demo, made, session, turn
from tests.site.test_address import items
from unspool.model import Agent, Block, Branch, Notice, Place, Session, Text, Thinking, ToolCall
from unspool.render.view import View
from unspool.render.writers import find_writer
from unspool.site import page_template
from unspool.site.address import Addresses
from unspool.site.options import KINDS, SiteOptions
from unspool.site.page_template import Crumb, Frame
from unspool.store.library import Library

EVERY = pytest.mark.parametrize("whole", demo(), ids=lambda one: one.id[:8])
WAYS = pytest.mark.parametrize(
    "options",
    [
        SiteOptions(),
        SiteOptions(per_page=1),
        SiteOptions(single_page=True),
        SiteOptions(self_contained=True),
        SiteOptions(hide=frozenset(KINDS)),
    ],
    ids=["plain", "one-a-page", "single", "contained", "hidden"],
)
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m'


@EVERY
@WAYS
def test_pages_are_well_formed(whole: Session, options: SiteOptions) -> None:
    """Every tag is closed in its place; no id stands twice; nothing carries a style or a handler."""
    for path, html in made(whole, options).items():
        page = Read(html)
        assert (path, page.faults) == (path, [])
        assert (path, sorted({one for one in page.ids if page.ids.count(one) > 1})) == (path, [])


@EVERY
@WAYS
def test_every_link_of_a_session_leads_somewhere(whole: Session, options: SiteOptions) -> None:
    """Links between a session's pages name a page that is there and an anchor that it has."""
    assert broken(made(whole, options)) == []


@EVERY
@pytest.mark.parametrize("single", [False, True])
def test_every_block_is_told_where_its_address_says(whole: Session, single: bool) -> None:
    """A block is at home on one page, once; elsewhere it is told only as part of a subagent's conversation."""
    options = SiteOptions(single_page=single)
    addresses = Addresses(whole, options)
    pages = {path: Read(html) for path, html in made(whole, options).items()}
    for item in items(whole):
        assert pages[addresses.page(item)].ids.count(addresses.anchor(item)) == 1
    own = [item for one in whole.turns for item in ((one.prompt,) if one.prompt else ()) + one.blocks]
    for item in own:
        told = [path for path, page in pages.items() if addresses.anchor(item) in page.ids]
        assert told == [addresses.page(item)]


@EVERY
def test_every_turn_is_on_exactly_one_page(whole: Session) -> None:
    """Turns of the live conversation have their anchors on one page each."""
    pages = [Read(html) for path, html in made(whole, SiteOptions(per_page=2)).items() if path.startswith("page-")]
    for one in whole.turns:
        assert sum(page.ids.count(f"turn-{one.number}") for page in pages) == 1


@EVERY
def test_pages_are_the_same_every_time(whole: Session) -> None:
    """Pages are pure functions of session, options and frame."""
    assert made(whole) == made(whole)


@EVERY
def test_self_contained_pages_need_no_file(whole: Session) -> None:
    """Styles and scripts are inside, and the policy names the digest of each."""
    for html in made(whole, SiteOptions(self_contained=True)).values():
        assert [file for file in Read(html).files if not file.startswith("data:")] == []
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
        assert policy is not None
        inside = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", html, re.DOTALL)
        assert len(inside) >= len(page_template.STYLES) + len(page_template.SCRIPTS)
        for text in inside:
            assert b64encode(sha256(text.encode()).digest()).decode() in policy[1]
        assert "unsafe" not in policy[1]


def test_shared_files_are_named_from_the_root() -> None:
    """A page below the root finds styles, scripts and the pages above it."""
    frame = Frame("../../", (Crumb("All <sessions>", "index.html"), Crumb("x", "x/index.html")))
    html = made(session([turn(1, "hi", "hello")]), frame=frame)["page-001.html"]
    page = Read(html)
    assert set(page.files) >= {
        f"../../{one.path}" for one in page_template.site_assets() if "highlight" not in one.path
    }
    assert {"../../index.html", "../../x/index.html", "index.html"} <= set(page.links)
    assert "All &lt;sessions&gt;" in html


@WAYS
def test_nothing_from_a_log_becomes_markup(options: SiteOptions) -> None:
    """Titles, branches, folders, prompts, answers and names of tools are text wherever they are shown."""
    block = ToolCall(Place(3, 300, 9), "c1", HOSTILE, {HOSTILE: HOSTILE}, "ok", time=NOON)
    notice = Notice(Place(4, 400, 9), HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, time=NOON)
    thought = Thinking(Place(5, 500, 9), HOSTILE, time=NOON)
    first = turn(1, HOSTILE, HOSTILE)
    first = msgspec.structs.replace(first, blocks=(*first.blocks, block, notice, thought))
    whole = session([first, turn(2, "more", at=9)], HOSTILE, HOSTILE, HOSTILE)
    whole = msgspec.structs.replace(whole, branches=(Branch(1, 1, (turn(2, HOSTILE, HOSTILE, at=20),)),), id=HOSTILE)
    frame = Frame("", (Crumb(HOSTILE, "index.html"),))
    for html in made(whole, options, frame).values():
        assert Read(html).faults == []
        bare = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
        assert "<script" not in bare
        assert "<img" not in bare
        assert "\u202e" not in html
        assert "\x1b" not in html


def test_the_theme_is_the_one_asked_for() -> None:
    """The system's theme is no attribute, the others are."""
    whole = session([turn(1, "hi", "hello")])
    assert "data-theme" not in made(whole)["page-001.html"].partition("<body>")[0].replace(
        page_template.load_asset("look.css").data.decode(), ""
    )
    assert '<html lang="en" data-theme="dark"' in made(whole, SiteOptions(theme="dark"))["page-001.html"]


def _kinds(options: SiteOptions) -> set[str]:
    return {kind for whole in demo() for html in made(whole, options).values() for kind in Read(html).kinds}


@pytest.mark.parametrize(
    ("hidden", "kind"),
    [("thinking", "thinking"), ("agents", "agent"), ("todos", "todos"), ("tools", "tool")],
)
def test_what_is_hidden_is_not_written(hidden: str, kind: str) -> None:
    """Hiding a kind leaves its blocks out and all others in."""
    assert kind in _kinds(SiteOptions())
    left = _kinds(SiteOptions(hide=frozenset({hidden})))
    assert kind not in left
    assert {"prompt", "text", "plan", "question"} <= left


def test_hidden_images_are_named_only() -> None:
    """No picture is in a page that hides pictures."""
    shown = "".join(html for whole in demo() for html in made(whole).values())
    hidden = "".join(html for whole in demo() for html in made(whole, SiteOptions(hide=frozenset({"images"}))).values())
    assert "<img" in shown
    assert "<img" not in hidden


def _found(kind: type[Block]) -> tuple[Session, Block]:
    for whole in demo():
        for one in whole.turns:
            for block in one.blocks:
                if isinstance(block, kind):
                    return whole, block
    raise AssertionError(kind)


def test_a_page_leads_to_all_others() -> None:
    """Index, previous, all numbers and next stand above and below the turns; numbers have gaps where they are many."""
    pages = made(session([turn(number, f"prompt {number}", at=number * 5) for number in range(1, 61)]))
    page = pages["page-006.html"]
    assert page.count('class="pager"') == 2
    assert re.findall(r'<a href="([^"]+)" rel="(\w+)"', page)[:3] == [
        ("index.html", "up"),
        ("page-005.html", "prev"),
        ("page-007.html", "next"),
    ]
    assert numbers_on(page) == [*map(str, range(1, 13))]
    assert 'aria-current="page">6<' in page
    many = made(session([turn(number, f"prompt {number}", at=number * 5) for number in range(1, 201)]))
    assert numbers_on(many["page-020.html"]) == ["1", "…", *map(str, range(17, 24)), "…", "40"]


def numbers_on(page: str) -> list[str]:
    pager = page[page.index('class="pager"') : page.index("</nav>", page.index('class="pager"'))]
    return re.findall(r">(\d+|…)<", pager)


def test_the_rail_shows_the_prompts_around() -> None:
    """A long session's rail is cut, and says how much it leaves out."""
    pages = made(session([turn(number, f"prompt {number}", at=number * 5) for number in range(1, 101)]))
    rail = pages["page-010.html"].partition('id="rail"')[2].partition("</nav>")[0]
    assert [int(number) for number in re.findall(r"<i>(\d+)</i>", rail)] == list(range(34, 63))
    assert "33 earlier" in rail
    assert "38 later" in rail


def test_branches_are_chosen_where_they_leave() -> None:
    """The turn before a branch offers it; the branch's own page offers the way back. All rails know all prompts."""
    aside = turn(2, "another way", "yes", at=50)
    whole = session([turn(1, "first"), turn(2, "one way", at=9)])
    whole = msgspec.structs.replace(whole, branches=(Branch(1, 1, (aside,)),))
    pages = made(whole)
    assert '<a href="branch-1.html">branch 1: another way · 1 prompt</a>' in pages["page-001.html"]
    assert '<a href="page-001.html#turn-2">the live conversation: one way</a>' in pages["branch-1.html"]
    assert '<a href="branch-1.html">' in pages["index.html"]
    rails = {path: re.findall(r'<p class="label">([^<]+ prompts?)</p>', html) for path, html in pages.items()}
    live, left = ["2 of 3 prompts"], ["1 of 3 prompts"]
    assert rails == {"page-001.html": live, "branch-1.html": left, "index.html": live}


def test_a_branch_that_leaves_between_two_pages_is_offered() -> None:
    """Turn numbers may have gaps; a branch that leaves in one is offered at the end of the page before it."""
    turns = [turn(1, "first"), turn(4, "later", at=9)]
    whole = msgspec.structs.replace(session(turns), branches=(Branch(1, 2, (turn(3, "another way", at=50),)),))
    pages = made(whole, SiteOptions(per_page=1))
    offered = [path for path, html in pages.items() if '<a href="branch-1.html">' in html]
    assert offered == ["page-001.html", "index.html"]


def test_a_subagent_that_is_called_again_is_named_there_too() -> None:
    """Its conversation stands at the first call, and under its anchor only there."""
    calls = tuple(
        ToolCall(Place(at, at * 100, 100), f"c{at}", "Odd", {}, agents=("a1",), state="ok", time=NOON) for at in (5, 6)
    )
    inner = Agent("a1", "explorer", "look around", session([turn(1, "look", "seen", at=70)]), call_id="c5")
    first = msgspec.structs.replace(turn(1, "go"), blocks=calls)
    page = made(msgspec.structs.replace(session([first]), agents=(inner,)))["page-001.html"]
    assert page.count('id="agent-a1"') == 1
    assert page.count("explorer: look around") == 2


def test_a_session_without_a_turn_has_pages() -> None:
    """An empty log is a page that says so little."""
    pages = made(session([]))
    assert set(pages) == {"index.html", "page-001.html"}
    assert broken(pages) == []


def test_a_small_subagent_is_told_in_place_and_on_its_own_page() -> None:
    """It is folded under the call that started it, under its anchor, and leads to its page."""
    whole = next(one for one in demo() if one.agents and one.agents[0].id == "a330c1d2d3956b27e")
    pages = made(whole)
    place = next(
        html for path, html in pages.items() if path.startswith("page-") and 'id="agent-a330c1d2d3956b27e"' in html
    )
    assert '<a href="agent-a330c1d2d3956b27e.html">Open alone</a>' in place
    said = next(block for one in whole.agents[0].session.turns for block in one.blocks if isinstance(block, Text))
    anchor = Addresses(whole, SiteOptions()).anchor(said)
    assert f'id="{anchor}"' in place
    assert f'id="{anchor}"' in pages["agent-a330c1d2d3956b27e.html"]


def test_each_turn_says_what_it_took() -> None:
    """Tokens and money stand at the foot of a turn, exact in the title."""
    whole, _ = _found(ToolCall)
    html = "".join(made(whole).values())
    foot = html[html.index('class="foot"') :].partition("</ul>")[0]
    assert re.search(r'title="[\d,]+ tokens">[\d.]+ ?[kM]? (?:in|out|cached)<', foot)
    assert re.search(r">≥?\$\d+\.\d+<", foot)


def test_a_page_without_files_carries_what_it_searches_in() -> None:
    """The index of a self-contained session holds all records; no other page does, nor do pages with files."""
    whole = session([turn(1, "needle </script>", "found"), turn(2, "more", at=9)])
    contained = made(whole, SiteOptions(self_contained=True))
    index = contained["index.html"]
    data = index.partition('<script type="application/json" data-search>')[2].partition("</script>")[0]
    assert "needle" in data
    assert 'data-do="search"' in index
    assert "data-search>" not in contained["page-001.html"]
    assert 'data-do="search"' not in contained["page-001.html"].partition("<body>")[2]
    assert "data-search>" not in made(whole)["index.html"].partition("<body>")[2]


def test_pages_of_real_logs_are_well_formed(shared: Path) -> None:
    """Logs of many people and versions: every tag in its place, every id once, every page that is named there."""
    logs = [log for log in (shared / "corpora" / "claude").rglob("*.jsonl") if log.stat().st_size < 600_000]
    assert len(logs) > 10
    library = Library([shared / "corpora" / "claude" / "projects"])
    for log in sorted(logs):
        pages = made(library.open(log))
        for path, html in pages.items():
            page = Read(html)
            assert (log.name, path, page.faults) == (log.name, path, [])
            assert len(set(page.ids)) == len(page.ids)
            files = {link.partition("#")[0] for link in page.links if ":" not in link}
            assert files - {""} <= set(pages)


def test_subagents_of_one_type_that_follow_one_another_stand_together() -> None:
    """A line above them says how many there are; anything between them ends the group."""
    log = LogBuilder().prompt("look around")
    first, second, third = (log.agent_use("Explore", f"look {n}", f"Look {n}.") for n in (1, 2, 3))
    other = log.agent_use("Plan", "think", "Think.")
    log.assistant(first, second, other).assistant(log.text("One more.")).assistant(third)
    html = "".join(made(session_of(log)).values())
    assert re.findall(r'class="together"[^>]*>([^<]*)<', html) == ["2 × Explore"]
    assert html.index("2 × Explore") < html.index("look 1")


def test_a_branch_that_begins_with_an_answer_says_to_which_prompt() -> None:
    """It is not headed as if it came before the first prompt, on pages, in switches and in text."""
    log = LogBuilder().prompt("one")
    log.assistant(log.text("an answer")).prompt("two")
    asked = str(log.last)
    log.assistant(log.text("one way")).rewind(asked).assistant(log.text("another way")).prompt("three")
    whole = session_of(log.assistant(log.text("done")))
    assert [turn.prompt for branch in whole.branches for turn in branch.turns] == [None]
    pages = "".join(made(whole).values())
    assert "Another answer to prompt 2" in pages
    assert "Before the first prompt" not in pages
    text = "".join(chunk.decode() for chunk in find_writer("text").chunks(whole, View(branch=1)))
    assert "Another answer to prompt 2" in text


def test_what_was_copied_from_another_session_is_folded_and_leads_there(tmp_path: Path) -> None:
    one = LogBuilder(seed="a").prompt("First asked")
    one.assistant(one.text("Aye."))
    fork = one.copied("bbbbbbbb-0000-4000-8000-000000000002").wait(60).prompt("Only here")
    for log in (one, fork.assistant(fork.text("No."))):
        log.write(tmp_path)
    copy = Library([tmp_path]).open(fork.session_id)
    frame = Frame("../../", sessions={one.session_id: "loom/first/index.html"})
    pages = made(copy, SiteOptions(), frame)
    for page in pages.values():
        (folded,) = re.findall(r'<details class="card copied">.*?</details>', page, re.S)
        assert "Prompt 1 copied from First asked" in folded
        assert "Only here" not in folded
        assert '<a href="../../loom/first/index.html">Open it there</a>' in folded
        assert page.index('<ol class="chain"') < page.index(folded)


def test_long_notices_are_begun_on_their_page_and_whole_on_another_the_same_words_once() -> None:
    long = {"type": "hook", "output": "".join(f"line {number} of it\n" for number in range(2_000))}
    notices = [Notice(Place(line, line, 1), "hook", "", long, f"n{line}", NOON) for line in (2, 3)]
    whole = session([msgspec.structs.replace(turn(1, "Go on"), blocks=tuple(notices))])
    pages = made(whole, SiteOptions())
    assert broken(pages) == []
    addresses = Addresses(whole, SiteOptions())
    begun = pages[addresses.page(notices[0])]
    assert "line 10 of it" in begun
    assert "line 1999 of it" not in begun
    for notice in notices:
        assert f'href="notices.html#{addresses.anchor(notice)}"' in begun
        assert f'id="{addresses.anchor(notice)}"' in pages["notices.html"]
    assert pages["notices.html"].count("line 1999 of it") == 1
    assert "line 1999 of it" in made(whole, SiteOptions(single_page=True))["index.html"]
    assert "notices.html" not in made(whole, SiteOptions(hide=frozenset({"notices"})))


def test_calls_that_only_look_around_are_one_row_that_says_at_what() -> None:
    log = LogBuilder(cwd="/srv")
    uses = [log.use("Read", file_path=f"/srv/{name}.py") for name in "abc"]
    found, ran = log.use("Grep", pattern="lamp"), log.use("Bash", command="cd /srv && make", description="Build it")
    log.prompt("Look").assistant(*uses, found)
    for use in (*uses, found):
        log.result(use, "1\tlamp")
    log.assistant(ran).result(ran, "done").assistant(log.text("Built."))
    page = made(session_of(log))["page-001.html"]
    assert '<span class="what for">read 3 files, searched once</span>' in page
    assert page.count('class="call sum"') == 1
    assert '<span class="what for">Build it</span> <code class="ran">' in page
    assert all(f"{name}.py" in page for name in "abc")


def test_a_call_that_failed_stands_open_and_is_not_joined_with_others() -> None:
    log = LogBuilder()
    uses = [log.use("Read", file_path=f"/srv/{name}.py") for name in "abcd"]
    log.prompt("Look").assistant(*uses)
    for use in uses:
        log.result(use, "File does not exist." if use is uses[1] else "1\tlamp", error=use is uses[1])
    page = made(session_of(log))["page-001.html"]
    assert re.search(r'<details class="call"[^>]* open><summary><b>Read</b>[^<]*<span[^>]*>[^<]*b\.py', page)
    assert 'class="call sum"' not in page


def test_facts_nested_too_deep_to_be_weighed_still_have_a_page() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    notice = Notice(Place(2, 2, 1), "hook", "words", {"deep": deep}, "n2", NOON)
    pages = made(session([msgspec.structs.replace(turn(1, "Go on"), blocks=(notice,))]))
    assert "too deep or too large to show" in pages["page-001.html"]
