"""Markdown as HTML."""

import pytest

from bench.hostile import PROSE
from tests.render.html.page import Page
from tests.waiting import ending
from unspool.render.html.prose import prose_html, prose_words

REL = ' rel="noopener noreferrer nofollow"'


@pytest.mark.parametrize(
    ("markdown", "markup"),
    [
        ("*a* **b** ~~c~~ `d<e>`", "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d&lt;e&gt;</code></p>"),
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("# One\n\n##### Five", "<h3>One</h3><h6>Five</h6>"),
        ("- [ ] open\n- [x] done", "<ul><li>☐ open</li><li>☑ done</li></ul>"),
        ("3. c\n4. d", '<ol start="3"><li>c</li><li>d</li></ol>'),
        ("> said\n\n---", "<blockquote><p>said</p></blockquote><hr>"),
        ("```py\nx < 1\n```", '<pre><code class="language-py">x &lt; 1\n</code></pre>'),
        (
            '```c++ "a" title=b\nx\n```',
            '<pre><code class="language-c++" title="c++ &quot;a&quot; title=b">x\n</code></pre>',
        ),
        ("```a/b\nx\n```", '<pre><code title="a/b ">x\n</code></pre>'),
        (
            "https://x.test/?a=1&b=2",
            f'<p><a href="https://x.test/?a=1&amp;b=2"{REL}>https://x.test/?a=1&amp;b=2</a></p>',
        ),
        ('[a](https://x.test "t")', f'<p><a href="https://x.test" title="t"{REL}>a</a></p>'),
        ("<me@x.test> [top](#turn-1)", '<p><a href="mailto:me@x.test">me@x.test</a> top (#turn-1)</p>'),
    ],
)
def test_the_dialect_is_that_of_github(markdown: str, markup: str) -> None:
    """Lines stay lines, and headings rank below those of the page."""
    assert prose_html(markdown) == markup


def test_columns_keep_their_alignment() -> None:
    """By class, for a page has no inline style."""
    made = prose_html("|a|b|c|\n|:-|:-:|-:|\n|1|2|3|")
    assert '<th>a</th><th class="mid">b</th><th class="end">c</th>' in made
    assert '<td>1</td><td class="mid">2</td><td class="end">3</td>' in made


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("[a](javascript:alert(1))", "a (javascript:alert(1))"),
        ("[a](src/worker.py)", "a (src/worker.py)"),
        ('[a](file:///etc/passwd "why")', "a (file:///etc/passwd why)"),
        ("<javascript:alert(1)>", "<javascript:alert(1)>"),
        ("[data:x](data:x)", "data:x"),
        ("ftp://x.test/f", "ftp://x.test/f"),
        ("[a](//x.test)", "a (//x.test)"),
    ],
)
def test_a_link_that_may_not_be_followed_is_told(markdown: str, text: str) -> None:
    """With where it would have led, unless its text says that already."""
    page = Page(prose_html(markdown))
    assert page.text == text
    assert page.links == []


def test_raw_html_is_read_as_it_was_typed() -> None:
    """In lines of its own, in a comment, and inside code."""
    page = Page(prose_html("<context>\nthe *point*\n</context>\n\n<!-- aside -->\n\n`<b>`\n\n    <i>"))
    assert page.text == "<context>the point</context><!-- aside --><b><i>\n"
    assert page.tags.count("br") == 2
    assert "em" in page.tags


def test_raw_html_in_the_place_of_an_address_is_text() -> None:
    """There angle brackets may mean an address; where they do not, they are shown."""
    assert Page(prose_html("a](<table>b")).text == "a](<table>b"
    assert Page(prose_html("a](<p>)")).text == "a](<p>)"


def test_an_address_ends_where_raw_html_begins() -> None:
    """As it would if the tag were one; an address that is given keeps all of it."""
    assert Page(prose_html("<td>https://x.test/a</td>")).links == ["https://x.test/a"]
    assert Page(prose_html("[a](https://x.test/?q=<b>)")).links == ["https://x.test/?q=%3Cb%3E"]


def test_a_definition_is_not_swallowed() -> None:
    """What looks like the address of a link that nobody uses is often a remark."""
    assert Page(prose_html("[WARN]: timeout\n\nsee [a][b]\n\n[b]: https://x.test")).text == (
        "[WARN]: timeoutsee [a][b][b]: https://x.test"
    )


@pytest.mark.parametrize(
    ("markdown", "markup"),
    [
        ("![a](https://x.test/i.png)", f'<a href="https://x.test/i.png"{REL}>image: a</a>'),
        ("![](https://x.test/i.png)", f'<a href="https://x.test/i.png"{REL}>image: https://x.test/i.png</a>'),
        ("![a](data:image/png;base64,AA+/A==)", '<img src="data:image/png;base64,AA+/A==" alt="a" loading="lazy">'),
        ("![a](data:image/svg+xml;base64,AAAA)", "<span>image: a (data:image/svg+xml;base64,AAAA)</span>"),
        ("![a](shot.png)", "<span>image: a (shot.png)</span>"),
        (
            "[![a](https://x.test/i.png)](https://y.test)",
            f'<a href="https://y.test"{REL}><span title="https://x.test/i.png ">image: a</span></a>',
        ),
    ],
)
def test_a_picture_is_loaded_from_nowhere(markdown: str, markup: str) -> None:
    """One that the text itself holds is shown; any other is a link, or named."""
    assert prose_html(markdown) == f"<p>{markup}</p>"


def test_a_picture_in_the_text_can_be_named_instead() -> None:
    """Where pictures are not wanted."""
    assert Page(prose_html("![a](data:image/png;base64,AAAA)", images=False)).tags == ["p", "span"]


@pytest.mark.parametrize("sign", ["@", "&#64;", "&#0064;", "&#x40;", "&#X0040;", "&commat;"])
def test_many_mail_addresses_are_text(sign: str) -> None:
    """The Markdown reader would go a call deeper for each of them; addresses of the web stay links."""
    page = Page(prose_html(f"see https://x.test/@me\n\n{f'a{sign}b.cc ' * 100_000}"))
    assert page.links == ["https://x.test/@me"]
    assert page.text.count("a@b.cc") == 100_000


@pytest.mark.parametrize("piece", PROSE)
def test_no_markdown_takes_long(piece: str) -> None:
    """Hundreds of thousands of characters of anything are read to the end."""
    with ending():
        prose_html(piece * (300_000 // len(piece)))


def test_the_words_of_a_text_stand_on_one_line_without_signs_and_code() -> None:
    text = "# Why\n\nIt **was** `too early`:\n\n- one & two\n- [three](https://example.org)\n\n```py\nsecret()\n```\n<b>raw</b>"
    assert prose_words(text) == "Why It was too early: one & two three <b>raw</b>"
    assert prose_words("") == ""
    assert len(prose_words("word " * 10_000)) <= 3000
