"""Nodes of every shape, made of any text."""

from typing import Any

from hypothesis import strategies as st

from unspool import doc

NASTY = st.lists(
    st.sampled_from(
        (
            *("word ", "\n", "\r", "\t", "\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\x1b]8;;http://x.org\x1b\\link"),
            *(
                "\x00",
                "\x08",
                "\x7f",
                "\x85",
                "\u202e",
                "<script>",
                "```",
                "漢字",
                "🙂",
                "**b**",
                "`c`",
                "# ",
                "- ",
                "|",
            ),
        )
    ),
    max_size=12,
).map("".join)
TEXT = st.text(max_size=20) | NASTY
SPANS = st.lists(st.builds(doc.Span, TEXT, st.sampled_from(["", "red", "#ff0000", "nonsense"]), bold=st.booleans()))


TEXTS = st.lists(TEXT, max_size=3).map(tuple)
CHECKS = st.builds(doc.Check, TEXT, st.sampled_from(["open", "active", "done", "dropped"]), TEXT)
HUNKS = st.builds(doc.Hunk, st.just(1), st.just(1), TEXTS)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


LEAVES: dict[type[Any], st.SearchStrategy[Any]] = {
    doc.Prose: st.builds(doc.Prose, TEXT),
    doc.Code: st.builds(doc.Code, TEXT, TEXT, TEXT, st.integers(0, 999)),
    doc.Raw: st.builds(doc.Raw, TEXT, TEXT),
    doc.Terminal: st.builds(doc.Terminal, SPANS.map(tuple), TEXT, st.none() | st.integers(0, 255)),
    doc.Diff: st.builds(doc.Diff, TEXT, some(HUNKS), st.just(1), st.just(2), st.booleans()),
    doc.Table: st.builds(doc.Table, TEXTS, some(TEXTS), TEXT),
    doc.Fields: st.builds(doc.Fields, some(st.tuples(TEXT, TEXT))),
    doc.Checklist: st.builds(doc.Checklist, some(CHECKS), TEXT),
    doc.Picture: st.builds(doc.Picture, TEXT | st.just("image/png"), TEXT | st.just("aGk="), TEXT, TEXT),
    doc.Link: st.builds(doc.Link, TEXT | st.just("https://x.org/a)b"), TEXT),
    doc.Heading: st.builds(doc.Heading, TEXT, st.integers(0, 9), TEXT, TEXT, TEXTS),
}
TONES = st.sampled_from(["plain", "quiet", "good", "bad", "warn"])
FOLD = st.builds(doc.Fold, TEXT, TEXT, TEXT, TONES, st.booleans(), TEXT, some(st.one_of(*LEAVES.values())))
NODE: st.SearchStrategy[doc.Node] = st.one_of(*LEAVES.values(), FOLD)
SHAPES = {*LEAVES, doc.Fold}
