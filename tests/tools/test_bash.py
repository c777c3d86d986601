"""Commands in a shell."""

from tests.tools.calls import called, image
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Code, Fields, Link, Picture, Prose, Span, Terminal


def test_a_command_is_shown_with_its_purpose_and_what_it_printed() -> None:
    call = called(
        "Bash",
        {"command": "pytest -q", "description": "Run tests", "timeout": 5000},
        "3 passed",
        detail={"stdout": "\x1b[32m3 passed\x1b[0m", "stderr": "a warning", "interrupted": False},
    )
    fold = tools.describe(call)
    assert (fold.kind, fold.summary, fold.outcome, fold.tone) == ("tool", "Bash Run tests", "2 lines", "plain")
    assert fold.children == (
        Code("pytest -q", "bash"),
        Fields((("timeout", "5000"),)),
        Terminal((Span("3 passed", fg="green"),)),
        Terminal((Span("a warning"),)),
    )


def test_a_purpose_that_its_row_cannot_say_whole_stands_below_it() -> None:
    for purpose in ("why " * 60, "Run\nthe tests"):
        fold = tools.describe(called("Bash", {"command": "pytest", "description": purpose}, "ok"))
        assert fold.children[:2] == (Prose(purpose.strip()), Code("pytest", "bash"))


def test_a_failed_command_tells_its_exit_code() -> None:
    fold = tools.describe(called("Bash", {"command": "false"}, "Exit code 1\nboom", error=True, detail="Error: Exit 1"))
    assert (fold.outcome, fold.tone) == ("exit 1", "bad")
    assert fold.children[-1] == Terminal((Span("boom"),), exit_code=1)


def test_a_command_that_failed_without_a_word_still_shows_its_exit_code() -> None:
    fold = tools.describe(called("Bash", {"command": "false"}, "Exit code 127", error=True))
    assert fold.children == (Code("false", "bash"), Terminal((), exit_code=127))


def test_how_a_command_ended_is_in_its_outcome() -> None:
    asked, answer, detail = EXAMPLES["Bash"]
    fold = tools.describe(called("Bash", asked, answer, detail={**detail, "gitOperation": None}))
    assert fold.outcome == "2 lines · interrupted · timed out after 2 s · in background as b1"


def test_what_a_command_did_to_the_repository_is_in_its_outcome() -> None:
    detail = {"stdout": "", "stderr": "", "gitOperation": EXAMPLES["Bash"][2]["gitOperation"]}
    fold = tools.describe(called("Bash", {"command": "git push"}, "", detail=detail))
    done = "no output · committed abcdef0123 · pushed main · merged topic · pull request 7 created"
    assert fold.outcome == done
    assert fold.children[-1] == Link("https://a.b/7", "https://a.b/7")


def test_a_silent_command_has_no_output() -> None:
    fold = tools.describe(called("Bash", {"command": "true"}, "", detail={"stdout": "", "stderr": ""}))
    assert (fold.outcome, fold.children) == ("no output", (Code("true", "bash"),))


def test_the_text_is_shown_where_no_twin_was_kept() -> None:
    fold = tools.describe(called("Bash", {"command": "ls"}, "a\nb\n"))
    assert fold.outcome == "2 lines"
    assert fold.children[-1] == Terminal((Span("a\nb\n"),))


def test_output_read_back_from_a_file_is_shown_whole() -> None:
    call = called("Bash", {"command": "ls"}, "all\nof\nit", detail={"stdout": "all"}, spilled="/r/x.txt")
    assert tools.describe(call).outcome == "3 lines"
    assert tools.describe(call).children[1:] == (
        Terminal((Span("all\nof\nit"),)),
        Fields((("full output", "/r/x.txt"),)),
    )


def test_a_preview_says_that_the_rest_is_missing() -> None:
    call = called("Bash", {"command": "ls"}, "begin", spilled="/r/x.txt", missing=True)
    assert tools.describe(call).children[-1] == Fields((("full output", "/r/x.txt (missing)"),))


def test_a_picture_that_was_printed_is_a_picture() -> None:
    call = called("Bash", {"command": "plot"}, "", detail={"stdout": "data:...", "isImage": True}, images=(image(),))
    assert tools.describe(call).outcome == "image"
    assert tools.describe(call).children == (Code("plot", "bash"), Picture("image/png", "aGk="))


def test_powershell_is_its_own_language() -> None:
    assert tools.describe(called("PowerShell", {"command": "ls"}, None)).children == (Code("ls", "powershell"),)
