"""Every place of every node that a text of a log can come to."""

from collections.abc import Callable

from tests.render.build import DOT
from unspool import doc

Place = Callable[[str], doc.Node]

SHOWN: dict[str, Place] = {
    "code": doc.Code,
    "code from a line": lambda text: doc.Code(text, "python", "", 7),
    "caption of code": lambda text: doc.Code("x", caption=text),
    "raw": doc.Raw,
    "caption of raw": lambda text: doc.Raw("x", text),
    "terminal": lambda text: doc.Terminal((doc.Span(text),)),
    "styled terminal": lambda text: doc.Terminal((doc.Span("$ "), doc.Span(text, "red", bold=True)), exit_code=1),
    "command": lambda text: doc.Terminal((), text),
    "path of a diff": lambda text: doc.Diff(text, (), 0, 0),
    "context line": lambda text: doc.Diff("a.py", (doc.Hunk(1, 1, (f" {text}",)),), 0, 0),
    "changed line": lambda text: doc.Diff("a.py", (doc.Hunk(1, 1, (f"-x{text}", f"+y{text}")),), 1, 1),
    "line without a sign": lambda text: doc.Diff("a.py", (doc.Hunk(0, 0, (text,)),), 0, 0),
    "line of a new file": lambda text: doc.Diff("a.py", (doc.Hunk(0, 1, (f"+{text}",)),), 1, 0, created=True),
    "heading of a table": lambda text: doc.Table((text, "b"), (("1", "2", "3"),)),
    "cell": lambda text: doc.Table(("a",), ((text,), ())),
    "caption of a table": lambda text: doc.Table((), (), text),
    "name of a field": lambda text: doc.Fields(((text, "x"),)),
    "value of a field": lambda text: doc.Fields((("x", text),)),
    "check": lambda text: doc.Checklist((doc.Check(text, "open"), doc.Check("x", "done"))),
    "dropped check": lambda text: doc.Checklist((doc.Check(text, "dropped"),)),
    "note of a check": lambda text: doc.Checklist((doc.Check("x", "active", text),)),
    "caption of a checklist": lambda text: doc.Checklist((), text),
    "label of a picture": lambda text: doc.Picture("image/png", DOT, "", text),
    "label of a picture that is elsewhere": lambda text: doc.Picture("image/png", "", "https://x.test/i.png", text),
    "text of a link": lambda text: doc.Link("https://x.test", f"x{text}"),
    "text of a link that leads nowhere": lambda text: doc.Link("javascript:x", f"x{text}"),
    "text of a link to a session": lambda text: doc.Link("session:other", f"x{text}"),
    "summary of a call": lambda text: doc.Fold("tool", f"Run {text}", "", children=(doc.Prose("x"),)),
    "summary of a thought": lambda text: doc.Fold("thinking", f"Thinking: x{text}", children=(doc.Prose("x"),)),
    "summary of a card": lambda text: doc.Fold("plan", text, children=(doc.Prose("x"),)),
    "summary of a notice": lambda text: doc.Fold("notice:hook", text, children=(doc.Prose("x"),)),
    "summary of a subagent": lambda text: doc.Fold(
        "agent", text.replace(": ", ":_"), children=(doc.Heading("turn", 3, "x"),)
    ),
    "summary of a row that does not open": lambda text: doc.Fold("problem", text.replace(": ", ":_")),
    "outcome of a call": lambda text: doc.Fold("tool", "Run", text, "bad"),
    "outcome of a card": lambda text: doc.Fold("todos", "Todos", text, "good"),
    "outcome of a notice": lambda text: doc.Fold("notice", "Hook", text, "warn"),
    "heading": lambda text: doc.Heading("turn", 2, text),
    "note of a heading": lambda text: doc.Heading("turn", 9, "x", notes=(text, "y")),
}
"""Places whose text a reader sees as it is."""

USED: dict[str, Place] = {
    "language of code": lambda text: doc.Code("x", text),
    "foreground": lambda text: doc.Terminal((doc.Span("x", text),)),
    "background": lambda text: doc.Terminal((doc.Span("x", "", text),)),
    "media type": lambda text: doc.Picture(text, DOT),
    "data of a picture": lambda text: doc.Picture("image/png", text),
    "data of a document": lambda text: doc.Picture("application/pdf", text, label="x"),
    "label of a document": lambda text: doc.Picture("application/pdf", DOT, label=text),
    "address of a picture": lambda text: doc.Picture("image/png", "", text, "x"),
    "target of a link": lambda text: doc.Link(text, "x"),
    "target of a link without a text": lambda text: doc.Link(text, ""),
    "session of a link": lambda text: doc.Link(f"session:{text}", "x"),
    "kind of a fold": lambda text: doc.Fold(text, "x", "y", children=(doc.Prose("z"),)),
    "kind of a notice": lambda text: doc.Fold(f"notice:{text}", "x"),
    "anchor of a fold": lambda text: doc.Fold("tool", "x", anchor=text),
    "kind of a heading": lambda text: doc.Heading(text, 2, "x"),
    "prose": doc.Prose,
    "anchor of a heading": lambda text: doc.Heading("turn", 0, "x", text),
}
"""Places whose text is used, or shown in another way."""
