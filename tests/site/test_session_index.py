"""The index of a session: figures, and everything that happened with a link to it."""

import msgspec
import pytest

from tests.site.pages import NOON, demo, made, session, turn
from unspool.model import ChainLink, Notice, Place, Plan, Problem, Questionnaire, Session, Text, ToolCall
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.session_index import SHORT, WHOLE


def index(whole: Session, frame: Frame | None = None) -> str:
    return made(whole, SiteOptions(), frame)["index.html"]


def test_a_short_prompt_is_shown_whole() -> None:
    """A prompt of up to 300 characters needs no fold."""
    html = index(session([turn(1, "w" * SHORT)]))
    assert "w" * SHORT in html
    assert '<details class="words whole">' not in html


def test_a_long_prompt_opens_to_the_whole() -> None:
    """Its first 300 characters stand in a summary, all of it inside."""
    words = " ".join(f"word{number}" for number in range(200))
    html = index(session([turn(1, words)]))
    summary = html.partition('<details class="words whole"><summary>')[2].partition("</summary>")[0]
    assert words.startswith(summary.rstrip("…"))
    assert SHORT * 0.7 < len(summary) <= SHORT + 1
    assert "word199" in html.partition("</summary>")[2]


def test_a_huge_prompt_is_not_repeated() -> None:
    """Beyond a size the timeline leads to the page instead."""
    html = index(session([turn(1, "x " * WHOLE)]))
    assert f"all {2 * WHOLE:,} characters" in html
    assert len(html) < WHOLE


def test_long_answers_are_excerpts_with_a_link() -> None:
    """Answers from 300 characters on are worth a line; shorter ones are not."""
    html = index(session([turn(1, "ask", "short answer", "**Long** " + "y" * SHORT)]))
    assert "short answer" not in html
    assert 'href="page-001.html#msg-1772366400002">Long yyy' in html


def test_tools_are_counted() -> None:
    """What was used stands under the prompt, the most used first."""
    calls = [
        ToolCall(Place(n, n * 9, 9), f"c{n}", name, {}, "ok", time=NOON) for n, name in enumerate(["B", "A", "B"], 5)
    ]
    one = msgspec.structs.replace(turn(1, "ask"), blocks=tuple(calls))
    assert "2 B · 1 A" in index(session([one]))


def test_interruptions_and_compactions_are_told() -> None:
    """What broke the flow of a session is in its timeline."""
    blocks = tuple(
        Notice(Place(n, n * 9, 9), kind, time=NOON) for n, kind in enumerate(["interruption", "compaction"], 5)
    )
    html = index(session([msgspec.structs.replace(turn(1, "ask"), blocks=blocks)]))
    assert "Interrupted by the user" in html
    assert "Conversation compacted" in html


@pytest.mark.parametrize("meaning", [Plan, Questionnaire])
def test_plans_and_questions_of_the_demo_are_told(meaning: type) -> None:
    """Each has a line with what became of it."""
    for whole in demo():
        calls = [block for one in whole.turns for block in one.blocks if isinstance(block, ToolCall)]
        for call in calls:
            match call.meaning:
                case Plan(status=status) if meaning is Plan:
                    assert f">{status}</span>" in index(whole)
                case Questionnaire(questions=(first, *_)) if meaning is Questionnaire and first.answer:
                    assert f"<b>{first.answer}</b>" in index(whole)


def test_commits_and_pushes_are_linked() -> None:
    """The repository is known from the push."""
    whole = next(one for one in demo() if one.id.startswith("b0a75000"))
    html = index(whole)
    assert 'href="https://github.com/dev/harbour/commit/4be7d10"' in html
    assert 'href="https://github.com/dev/harbour/pull/7"' in html


def test_the_chain_leads_to_other_sessions_and_tells_how_they_began() -> None:
    """A session that the site has is linked, one that it has not is named; both with their first prompt."""
    links = (
        ChainLink("s1", "source", "path", "Planning <it>", "Plan & think"),
        ChainLink("s2", "follow-up", "slug", "After"),
    )
    whole = msgspec.structs.replace(session([turn(1, "go")]), links=links)
    html = index(whole, Frame("../../", (), {"s1": "p/s1/index.html"}))
    assert '<a href="../../p/s1/index.html">Planning &lt;it&gt;</a>' in html
    assert ">Plan &amp; think</q>" in html
    assert "<span>After</span>" in html


def test_lines_that_could_not_be_read_are_shown() -> None:
    """The raw line stands on the index, escaped, and a badge leads to it."""
    problem = Problem(Place(3, 30, 9), "not JSON", b'{"<script>')
    whole = msgspec.structs.replace(session([turn(1, "go")]), problems=(problem,))
    html = index(whole)
    assert '<a class="badge bad" href="#problems">1 line not read</a>' in html
    assert '{"&lt;script&gt;' in html
    assert 'id="problems"' in html


def test_a_single_page_has_timeline_and_turns() -> None:
    """Everything is on the index, links included."""
    whole = session([turn(1, "ask", "z" * SHORT), turn(2, "again", at=9)])
    pages = made(whole, SiteOptions(single_page=True))
    assert set(pages) == {"index.html"}
    assert 'id="turn-2"' in pages["index.html"]
    assert 'href="index.html#msg-1772366400001"' in pages["index.html"]


def test_text_blocks_are_read_as_text() -> None:
    """An excerpt is plain: no tag of an answer passes."""
    html = index(session([turn(1, "ask", "<b>bold</b> " * 60)]))
    assert "<b>bold" not in html
    assert isinstance(Text(Place(1, 1, 1), "x").text, str)
