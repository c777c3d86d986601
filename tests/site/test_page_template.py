"""The look: files that change their names with their content, colours that can be read, a policy that holds."""

import re
from itertools import product

import pytest

from unspool.render.html.elements import escape
from unspool.site import page_template
from unspool.site.options import SiteOptions

CSS = page_template.load_asset("look.css").data.decode()


def test_the_name_of_a_file_tells_its_content() -> None:
    """Each asset is called by its digest, so that a browser never mixes old and new."""
    for one in page_template.site_assets():
        assert re.fullmatch(r"assets/[a-z]+-[0-9a-f]{12}\.(?:css|js|min\.js)", one.path)
    assert len({one.path for one in page_template.site_assets()}) == len(page_template.site_assets())


def test_no_asset_ends_its_own_element() -> None:
    """Assets can stand inside a page."""
    for one in page_template.site_assets():
        assert b"</script" not in one.data.lower()
        assert b"</style" not in one.data.lower()
        assert b"\r" not in one.data


def test_the_policy_lets_nothing_else_in() -> None:
    """No page may load, run or send anything that is not its own."""
    for contained in (False, True):
        policy = page_template.site_page_head(SiteOptions(self_contained=contained), "../").policy
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "base-uri 'none'; form-action 'none'" in policy
        assert not re.search('["&<>]', policy)  # it stands in an attribute as it is


def test_templates_are_filled_in_without_their_indentation() -> None:
    """Spaces at the beginnings of lines are for those who read templates; words keep all that is between them."""
    page = page_template.PageTemplate(SiteOptions(), page_template.Frame(), "s").page("A  title", "<p>a\n  b</p>")
    before, body, after = page.partition("<p>a\n  b</p>")
    assert body
    assert not re.search(r"^[ \t]", before + after, re.MULTILINE)
    assert "<title>A  title</title>" in page


def test_a_page_without_code_carries_no_highlighter() -> None:
    """A self-contained page stays small where there is nothing to colour."""
    options = SiteOptions(self_contained=True)
    assert (
        len(page_template.site_page_head(options, "", code=False).scripts)
        < 60_000
        < len(page_template.site_page_head(options, "", code=True).scripts)
    )


def test_the_script_is_small() -> None:
    """No framework hides in it, and nothing in it evaluates text."""
    script = page_template.load_asset("page.js").data.decode()
    assert len(script.splitlines()) <= 300
    assert not re.search(r"\beval\b|innerHTML|document\.write|new Function|https?://", script)


def test_styles_load_nothing() -> None:
    """No address and no import stands in the styles."""
    assert not re.search(r"url\(|@import|https?:", CSS)


def tokens(theme: int) -> dict[str, tuple[float, float, float]]:
    """The colours of a theme by name: 0 light, 1 dark."""
    found: dict[str, tuple[float, float, float]] = {}
    for name, *pair in re.findall(r"--([a-z-]+): light-dark\(#([0-9a-f]+), #([0-9a-f]+)\)", CSS):
        text = pair[theme]
        text = "".join(char * 2 for char in text) if len(text) <= 4 else text
        red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (0, 2, 4))
        found[name] = (red, green, blue)
    return found


def luminance(colour: tuple[float, float, float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


PAIRS = [
    *product(("ink", "soft", "faint", "user", "agent", "tool"), ("bg", "surface", "sunken")),
    *product(("reply", "think", "good", "bad"), ("bg", "surface", "sunken")),
    *product(("ink", "soft", "user"), ("user-bg",)),
    *product(("ink", "soft"), ("add", "del", "think-bg", "tool-bg", "reply-bg", "mark")),
    ("think", "think-bg"), ("tool", "tool-bg"), ("reply", "reply-bg"), ("good", "good-bg"), ("bad", "bad-bg"),
    ("ink", "add-word"), ("ink", "del-word"), ("teal", "sunken"), ("teal", "surface"),
]  # fmt: skip


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_can_be_read(theme: int, text: str, ground: str) -> None:
    """Every colour of text reaches WCAG AA on every ground it stands on."""
    colours = tokens(theme)
    assert contrast(colours[text], colours[ground]) >= 4.5


def test_every_colour_is_a_token() -> None:
    """Outside the tokens only pure white and black are written, for paper and pictures."""
    rules = CSS.partition("*, ::before")[2]
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", rules)) <= {"#fff", "#000", "#e3e2de"}


def test_only_a_whole_session_in_one_file_can_play_itself() -> None:
    """Nobody else carries the scripts; they and their styles are all that it weighs more."""
    whole, parts = SiteOptions(single_page=True, self_contained=True), SiteOptions(self_contained=True)
    replay = page_template.load_asset("replay.js").data.decode()

    def page(options: SiteOptions, session: str) -> str:
        return page_template.PageTemplate(options, page_template.Frame(), session).page("Title", "<p>body</p>")

    assert replay in page(whole, "s1")
    assert all(replay not in one for one in (page(whole, ""), page(parts, "s1"), page(SiteOptions(), "s1")))
    names = (*page_template.STAGE_STYLES, *page_template.STAGE_SCRIPTS)
    assets = [page_template.load_asset(name) for name in names]
    around = sum(len(escape(one.policy)) + len("<script></script>") + 1 for one in assets)
    assert len(page(whole, "s1")) - len(page(parts, "s1")) <= sum(len(one.data) for one in assets) + around


def test_a_page_whose_address_is_known_can_be_posted_and_no_title_leaves_the_link() -> None:
    """Only the first page has the links, and only where somebody knows where it will be found."""
    title = 'Tides & "surge" <b>&url=https://elsewhere.example</b>'
    preview = page_template.Preview("About tides", address="https://hub.example/s/abc/")
    template = page_template.PageTemplate(SiteOptions(), page_template.Frame(preview=preview))
    first = template.page(title, "<p>Body</p>")
    links = re.findall(r'<a href="([^"]+)" rel="noopener noreferrer nofollow">(X|Bluesky|mail)</a>', first)
    assert [name for _, name in links] == ["X", "Bluesky", "mail"]
    assert all(href.count("https%3A%2F%2Fhub.example%2Fs%2Fabc%2F") == 1 for href, _ in links)
    assert not any("elsewhere.example<" in href or "&amp;url=https:" in href for href, _ in links)
    below = template.page(title, "<p>Body</p>", up=page_template.Crumb("Up", "index.html"))
    assert "x.com" not in below
    alone = page_template.PageTemplate(SiteOptions(), page_template.Frame(preview=page_template.Preview("About")))
    assert "x.com" not in alone.page(title, "<p>Body</p>")
