"""Reading the demo as people do, from disk: every control is used once, and nothing is complained about."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.site.browser.making import made
from tests.site.browser.tabs import DESKTOP, PHONE, Tab, click_still, pages, tab, too_wide
from tests.site.search.chromium import until

REAL = ("73d7b7a7", "1af7fc5e", "982581eb", "dac34307")
"""Sessions of the shared corpus, from four makers, none of them large."""


@pytest.fixture
def watched(browser: Any) -> Iterator[Tab]:
    with tab(browser) as opened:
        yield opened


def test_every_page_opens_without_complaint_and_fits(watched: Tab, archive: Path) -> None:
    for path in pages(archive):
        assert _fits(watched, path) == ["", ""]
        assert watched.page.locator("h1").count() == 1


def test_a_single_file_needs_no_other(browser: Any, one_file: Path) -> None:
    with tab(browser) as watched:
        asked: list[str] = []
        watched.page.on("request", lambda request: asked.append(request.url))
        page = watched.open(one_file)
        page.locator("details.call summary").first.click()
        page.keyboard.press("/")
        page.locator("dialog[open] input").first.fill("surge")
        page.locator("dialog[open] mark").first.wait_for()
        assert [url for url in asked if not url.startswith("data:")] == [one_file.resolve().as_uri()]


def test_pages_that_are_files_by_themselves_lead_to_the_one_that_searches(watched: Tab, tmp_path: Path) -> None:
    """In a gist of several pages the records are on the first; the others open its search, by key and by click."""
    folder = made(tmp_path / "storm", "json", "57024000", "--demo", "--self-contained")
    for way in ("key", "click"):
        page = watched.open(folder / "page-001.html")
        page.keyboard.press("/") if way == "key" else page.get_by_role("link", name="Search").click()
        page.locator("dialog[open] input").first.fill("surge")
        page.locator("dialog[open] mark").first.wait_for()
        assert "/index.html#search=" in page.url


def test_real_sessions_open_without_complaint_and_fit(watched: Tab, shared: Path, tmp_path: Path) -> None:
    source = shared / "corpora/claude"
    if not source.is_dir():
        pytest.skip("no shared corpora: real sessions are not opened in a browser")
    for session in REAL:
        made(tmp_path / session, "json", session, "-s", str(source))
    for path in pages(tmp_path):
        assert _fits(watched, path) == ["", ""]


def test_the_theme_is_kept_from_page_to_page(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "index.html")
    seen = {page.evaluate(_BACKGROUND)}
    while page.locator("html").get_attribute("data-theme") != "dark":
        page.locator("[data-do=theme]").click()
    seen.add(page.evaluate(_BACKGROUND))
    assert len(seen) == 2
    watched.open(storm / "page-001.html")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.locator("[data-do=theme]").get_attribute("aria-label") == "Theme: dark"


def test_the_system_decides_the_theme_until_someone_does(browser: Any, storm: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with tab(browser, color_scheme=scheme) as watched:
            colours.append(watched.open(storm / "index.html").evaluate(_BACKGROUND))
    assert colours[0] != colours[1]


def test_a_fold_opens_and_closes(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    fold = page.locator("details.call").first
    assert not fold.locator("summary + div").is_visible()
    fold.locator("summary").first.click()
    assert fold.locator("summary + div").is_visible()
    fold.locator("summary").first.click()
    assert not fold.locator("summary + div").is_visible()


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """A single file of a session in which a command printed much."""
    log = LogBuilder()
    log.prompt("Look").ran("cat tides", "a line\n" * 200)
    return made(tmp_path / "printed.html", "json", str(log.write(tmp_path)))


def test_a_long_block_is_cut_until_it_is_asked_for(watched: Tab, printed: Path) -> None:
    page = watched.open(printed)
    page.keyboard.press("o")
    more = page.locator("button.more").first
    for block in page.locator(".clip").all():
        block.scroll_into_view_if_needed()
    more.wait_for()
    block = page.locator(".clip.cut").first
    assert block.bounding_box()["height"] <= 800
    more.click()
    assert more.text_content() == "Show less"
    assert block.bounding_box()["height"] > 800
    more.click()
    assert more.text_content() == "Show more"
    assert block.bounding_box()["height"] <= 800


def test_code_is_copied_and_coloured(browser: Any, archive: Path) -> None:
    with tab(browser, permissions=["clipboard-read", "clipboard-write"]) as watched:
        page = watched.open(_with(archive, "language-python"))
        page.keyboard.press("o")
        code = page.locator("code.language-python").first
        text = code.text_content()
        code.scroll_into_view_if_needed()
        panel = page.locator(".copies:has(code.language-python)").first
        panel.hover()
        panel.locator(".copy").click()
        until(page, f"navigator.clipboard.readText().then((held) => held.trim() === {json.dumps(text.strip())})")
        until(page, "document.querySelectorAll('code.language-python .hljs-keyword').length > 0")
        assert code.text_content() == text


def test_a_change_is_copied_with_the_sign_of_each_line(browser: Any, archive: Path) -> None:
    with tab(browser, permissions=["clipboard-read", "clipboard-write"]) as watched:
        page = watched.open(_with(archive, "</i>\n<i>"))  # an empty line among others of its sign
        page.keyboard.press("o")
        pre = page.locator(".diff pre:has(i + i)").first
        pre.scroll_into_view_if_needed()
        marks = pre.locator("i").all_text_contents()
        pre.hover()
        page.locator(".copies:has(> pre i + i) > .copy").first.click()
        until(page, "navigator.clipboard.readText().then((held) => /^[-+ ]/.test(held))")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert [line[:1] for line in copied.removesuffix("\n").split("\n")] == [mark[-1] for mark in marks]
        assert not any(mark in copied for mark in marks if len(mark) > 3)


def test_a_deep_link_opens_the_folds_it_points_into(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    anchor = page.evaluate("document.querySelector('details details[id^=msg-]').id")
    watched.open(storm / "index.html")
    watched.open(storm / "page-001.html", anchor)
    target = page.locator(f"[id='{anchor}']")
    target.locator("summary + div").first.wait_for()
    assert target.evaluate(_OPEN)
    until(page, f"Math.abs(document.getElementById('{anchor}').getBoundingClientRect().top - 64) < 400")


def test_every_anchor_of_a_page_can_be_linked_to(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    anchors = page.evaluate("Array.from(document.querySelectorAll('[id^=msg-]'), (one) => one.id)")
    assert len(anchors) > 20
    for anchor in anchors:
        page.evaluate("(anchor) => { location.hash = anchor }", anchor)
        until(page, f"document.getElementById('{anchor}').checkVisibility()")


def test_j_and_k_go_from_prompt_to_prompt_and_over_pages(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    walked = []
    for key in "jjk":
        page.keyboard.press(key)
        walked.append(page.evaluate("document.activeElement.closest('.turn').id"))
    assert walked == ["turn-1", "turn-2", "turn-1"]
    for _ in range(5):
        page.keyboard.press("j")
    page.wait_for_url("**/page-002.html*")


def test_the_help_and_the_search_open_by_key_and_close(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    for key, words in (("?", "next prompt"), ("/", "Esc")):
        page.keyboard.press(key)
        assert words in page.locator("dialog[open]").text_content()
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('dialog[open]')")


def test_a_search_leads_to_what_it_found(watched: Tab, archive: Path) -> None:
    page = watched.open(archive / "index.html")
    page.keyboard.press("/")
    page.locator("dialog[open] input").first.fill("lock keeper")
    page.locator("dialog[open] mark").first.wait_for()
    page.locator("dialog[open] a[href*='msg-']").first.click()
    page.wait_for_url("**/57024000-*/*.html*")
    until(page, "document.activeElement.closest('[id^=msg-]') !== null")


def test_what_is_hidden_stays_so_in_the_address_and_on_the_next_page(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    page.locator("details.menu summary").click()
    page.locator(".sheet label", has_text="Tool calls").click()
    assert "hide=tools" in page.url
    assert not page.locator(".call:not([data-kind])").first.is_visible()
    assert page.locator(".prompt").first.is_visible()
    page.reload()
    assert not page.locator(".call:not([data-kind])").first.is_visible()
    page.locator("a[rel=next]").first.click()
    page.wait_for_url("**/page-002.html#*hide=tools*")
    page.locator("details.menu summary").click()
    page.locator(".sheet label", has_text="Tool calls").click()
    assert "hide" not in page.url


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Thinking", "[data-kind=thinking]"),
        ("Notices", ".notice"),
        ("Subagents", "[data-kind=agent]"),
        ("Images", "[data-kind=image]"),
    ],
)
def test_each_kind_of_block_can_be_hidden(watched: Tab, storm: Path, label: str, kind: str) -> None:
    page = watched.open(storm / "page-001.html")
    page.keyboard.press("o")
    shown = page.locator(f"main {kind}").first
    assert shown.is_visible()
    page.locator("details.menu summary").click()
    page.locator(".sheet label", has_text=label).click()
    assert not shown.is_visible()


def test_a_picture_is_enlarged_by_a_click(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    page.keyboard.press("o")
    click_still(page, page.locator("main img").first)
    page.locator("dialog.light img").wait_for(state="visible")  # which takes a moment on a busy machine
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('dialog')")


def test_a_reader_goes_from_all_sessions_to_one_prompt_and_back(watched: Tab, archive: Path) -> None:
    page = watched.open(archive / "index.html")
    page.locator("section", has_text="Projects").locator("a.title", has_text="harbour").last.click()
    page.wait_for_url("**/harbour/index.html")
    page.locator("a.title", has_text="storm surge").click()
    page.wait_for_url("**/57024000-*/index.html")
    page.locator(".timeline a", has_text="Prompt 6").click()
    page.wait_for_url("**/page-002.html#turn-6")
    page.locator("a[rel=prev]").first.click()
    page.wait_for_url("**/page-001.html")
    page.locator(".crumbs a", has_text="Sessions").click()
    page.wait_for_url("**/site/index.html")


def test_another_branch_and_a_subagent_have_pages_of_their_own(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-002.html")
    page.locator("a[href*='branch-1.html']").first.click()
    page.wait_for_url("**/branch-1.html*")
    assert "Make it longer, with the physics." in page.locator("main").text_content()
    watched.open(storm / "page-001.html")
    page.keyboard.press("o")
    page.locator("main a[href*='agent-']").first.click()
    page.wait_for_url("**/agent-*.html*")
    assert page.locator(".turn, .answer").count() > 0


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A single file of many turns, with code that is wider than the page."""
    log = LogBuilder()
    for number in range(1, 31):
        log.prompt(f"Question {number}")
        code = f"```python\nx = '{'wide ' * 40}'\n```\n\n```\nsmall\n```\n\n"
        log.assistant(log.text(f"Answer {number}.\n\n{code}" + "Words.\n\n" * 9))
        log.ran(f"grep tide{number}", "a line\n" * 40)
    return made(tmp_path / "far.html", "json", str(log.write(tmp_path)))


def test_what_is_far_away_is_laid_out_when_it_comes_near_and_in_print(watched: Tab, far: Path) -> None:
    page = watched.open(far)
    assert page.evaluate(_LAID_OUT) == [True, False]
    page.evaluate("document.getElementById('turn-30').scrollIntoView()")
    until(page, f"({_LAID_OUT})()[1]")
    until(page, f"!({_LAID_OUT})()[0]")
    page.emulate_media(media="print")
    until(page, f"({_LAID_OUT})().every(Boolean)")


def test_nothing_is_measured_before_it_is_seen(watched: Tab, far: Path) -> None:
    """Of all that scrolls sideways only what is in view is asked how wide it is, and coloured; all can be reached."""
    watched.page.add_init_script(_MEASURED)
    page = watched.open(far)
    until(page, "document.querySelectorAll('.hljs-string').length > 0")
    tops = page.evaluate("measured.map((one) => one.getBoundingClientRect().top)")
    assert 0 < max(tops) < DESKTOP["height"] * 2
    assert page.evaluate("document.querySelector('#turn-30 .hljs-string')") is None
    assert page.evaluate("document.querySelector('#turn-30 .language-python').closest('pre').tabIndex") == 0
    assert page.evaluate("document.querySelector('#turn-1 .prose pre:last-of-type').tabIndex") == -1


def test_an_anchor_far_away_is_led_to_at_once(watched: Tab, far: Path) -> None:
    page = watched.open(far)
    anchors = page.evaluate("Array.from(document.querySelectorAll('.turn [id^=msg-]'), (one) => one.id)")
    for anchor in anchors[10::20]:
        watched.open(far, anchor)
        until(page, f"Math.abs(document.getElementById('{anchor}').getBoundingClientRect().top - 100) < 40")


@pytest.mark.parametrize("locale", ["en-GB", "en-US"])
def test_times_are_those_of_the_reader_and_written_in_one_way(browser: Any, storm: Path, locale: str) -> None:
    with tab(browser, timezone_id="Asia/Tokyo", locale=locale) as watched:
        page = watched.open(storm / "page-001.html")
        assert page.locator(".prompt time").first.text_content() == "15:30"
        assert "15:30:38" in page.locator(".prompt time").first.get_attribute("title")


def test_a_printed_page_is_whole(watched: Tab, archive: Path) -> None:
    page = watched.open(_with(archive, 'class="clip"'))
    page.keyboard.press("o")
    page.emulate_media(media="print")
    assert page.evaluate(_CLIPPED) == []
    for control in (".top", ".rail", ".more", ".copy"):
        assert not any(one.is_visible() for one in page.locator(control).all())


def test_without_scripts_all_text_is_there(browser: Any, printed: Path) -> None:
    path = printed
    with tab(browser) as watched:
        told = watched.open(path).locator("main").text_content()
    with tab(browser, java_script_enabled=False) as watched:
        page = watched.open(path)
        main = page.locator("main")
        assert len(main.text_content()) >= len(told) * 0.95
        assert not page.locator("[data-do]").first.is_visible()
        page.locator("details:has(.clip) > summary").first.click()
        box = page.locator(".clip").first
        assert box.bounding_box()["height"] > 800


def test_on_a_phone_the_prompts_are_one_press_away(browser: Any, storm: Path) -> None:
    with tab(browser, viewport=PHONE, has_touch=True, is_mobile=True) as watched:
        page = watched.open(storm / "page-001.html")
        assert not page.locator(".rail").is_visible()
        page.locator("[data-do=rail]").tap()
        assert page.locator(".rail").is_visible()
        page.locator(".rail a", has_text="Try again").tap()
        assert page.url.endswith("#turn-5")
        until(page, "!document.documentElement.classList.contains('rail-open')")


def _fits(watched: Tab, path: Path) -> list[str]:
    """What is too wide on a page with all folds open, on a desktop and on a phone."""
    told = []
    for size in (DESKTOP, PHONE):
        watched.page.set_viewport_size(size)
        if size is DESKTOP:
            watched.open(path).keyboard.press("o")
        told.append(too_wide(watched.page))
    return told


def _with(archive: Path, markup: str) -> Path:
    """The first page that holds some markup."""
    return next(path for path in pages(archive) if path.name.startswith("page-") and markup in path.read_text("utf-8"))


_BACKGROUND = "getComputedStyle(document.body).backgroundColor"
_LAID_OUT = """() => ["turn-1", "turn-30"].map((name) =>
  document.querySelector(`#${name} .answer`).checkVisibility({ contentVisibilityAuto: true }))"""
_MEASURED = """window.measured = [];
const width = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth").get;
Object.defineProperty(Element.prototype, "scrollWidth", { get() { measured.push(this); return width.call(this); } });"""
_OPEN = "(one) => { while (one && one.open !== false) one = one.parentElement; return !one; }"
_CLIPPED = """() => Array.from(document.querySelectorAll("main *")).filter((one) => {
  const style = getComputedStyle(one), cut = ["hidden", "clip", "auto", "scroll"].includes(style.overflowY);
  return cut && one.clientHeight && one.scrollHeight > one.clientHeight + 2 && one.checkVisibility();
}).map((one) => one.outerHTML.slice(0, 120))"""


def test_how_much_is_shown_is_chosen_and_remembered(watched: Tab, storm: Path) -> None:
    page = watched.open(storm / "page-001.html")
    calls = page.locator("main .calls").first
    assert calls.is_visible()
    page.get_by_text("View", exact=True).click()
    page.get_by_role("button", name="Story").click()
    assert not calls.is_visible()
    assert page.locator("main .prompt").first.is_visible()
    page = watched.open(storm / "page-002.html")
    page.reload()
    assert page.locator("main .calls:visible").count() == 0
    page.get_by_text("View", exact=True).click()
    page.get_by_role("button", name="Everything").click()
    assert page.locator("main details.notices:not([open])").count() == 0
    page.get_by_role("button", name="Normal").click()
    assert page.locator("main details.notices[open]").count() == 0
