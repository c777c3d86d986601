"""`unspool share`: everything that must not leave is absent from all that is made, and the rest is there."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fakes import gh
from tests.cli.running import Outcome, run, source
from tests.log_builder.builder import LogBuilder
from tests.log_builder.prompts import make_png
from tests.share.made import ALL, CWD, PERSONAL, SECRETS, SESSION, TOLD, holds, leaked, session

FORMS = {"html": "talk.html", "site": "talk", "bundle": "talk.tar.gz"}


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    return source(tmp_path / "logs", session())


def shared(given: tuple[str, str], path: Path, form: str, *more: str) -> Path:
    """What `unspool share` makes."""
    done = run("share", SESSION, *given, f"--{form}", "-o", str(path), "--yes", *more)
    assert done.code == 0, done.err
    return path


@pytest.mark.parametrize("form", FORMS)
def test_nothing_that_must_not_leave_is_in_what_is_made(given: tuple[str, str], tmp_path: Path, form: str) -> None:
    """Searched byte by byte, raw, escaped and encoded, through what is packed; the harmless words are found so."""
    assert leaked(tmp_path / "logs", ALL) == set(ALL)
    made = shared(given, tmp_path / FORMS[form], form)
    assert leaked(made, ALL) == set()
    assert holds(made, TOLD)


def test_nothing_is_in_the_files_of_a_gist(
    given: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = gh(tmp_path / "bin", monkeypatch)
    done = run("share", SESSION, *given, "--gist", "--yes")
    assert done.code == 0, done.err
    assert "Preview: " in done.out
    assert leaked(folder / "files", ALL) == set()
    assert leaked(folder / "asked", ALL) == set()
    assert holds(folder / "files", TOLD)
    assert 'id="report"' in (folder / "files" / "index.html").read_text()


def test_without_a_terminal_nothing_is_made_unless_all_is_accepted(given: tuple[str, str], tmp_path: Path) -> None:
    done = run("share", SESSION, *given, "--html", "-o", str(tmp_path / "x.html"))
    assert done.code == 2
    assert "--yes" in done.err
    assert not (tmp_path / "x.html").exists()


def test_a_dry_run_lists_what_is_found_and_makes_nothing(given: tuple[str, str], tmp_path: Path, home: Path) -> None:
    done = run("share", SESSION, *given, "--dry-run", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["made"] == []
    assert {"anthropic-key", "github-token", "home", "email"} <= {one["rule"] for one in told["findings"]}
    assert not any(secret in done.out for secret in SECRETS.values())
    plain = run("share", SESSION, *given, "--dry-run")
    assert not any(secret in plain.out + plain.err for secret in SECRETS.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs"]
    assert not [path for path in home.rglob("*") if path.is_file()]


def found(given: tuple[str, str], *more: str) -> list[dict[str, str]]:
    done = run("share", SESSION, *given, "--dry-run", "--json", *more)
    assert done.code == 0, done.err
    listed: list[dict[str, str]] = json.loads(done.out)["findings"]
    return listed


def test_a_finding_is_kept_by_its_id_and_a_rule_by_its_name(given: tuple[str, str], tmp_path: Path) -> None:
    address = next(one for one in found(given) if one["shown"] == PERSONAL["address"])
    made = shared(given, tmp_path / "one.html", "html", "--keep", address["id"], "--fresh")
    assert leaked(made, ALL) == {"address"}
    made = shared(given, tmp_path / "rule.html", "html", "--keep", address["rule"], "--fresh")
    assert leaked(made, ALL) == {"address"}


def test_what_was_not_found_cannot_be_kept(given: tuple[str, str], tmp_path: Path) -> None:
    done = run("share", SESSION, *given, "--html", "-o", str(tmp_path / "x.html"), "--yes", "--keep", "emial")
    assert done.code == 3
    assert "emial" in done.err
    assert "email" in done.err
    assert not (tmp_path / "x.html").exists()


def test_a_term_goes_wherever_it_stands(given: tuple[str, str], tmp_path: Path) -> None:
    made = shared(given, tmp_path / "talk", "site", "--term", "harbour gauge")
    assert not holds(made, "harbour gauge")
    assert not holds(made, "HARBOUR GAUGE")


LEFT: dict[str, tuple[str, Callable[[LogBuilder], object]]] = {
    "--no-thinking": ("a course by night", lambda log: log.assistant(log.think("a course by night"), log.text("x"))),
    "--no-tools": ("soundings of the bay", lambda log: log.ran("cat s", "soundings of the bay")),
    "--no-subagents": ("the pilot says so", lambda log: log),
    "--no-images": ("iVBORw0KGgo", lambda log: log.prompt("Look", [b"\x89PNG\r\n\x1a\n" + b"\0" * 60])),
}


def several(what: str) -> LogBuilder:
    log = LogBuilder(session_id=SESSION, cwd=CWD)
    log.prompt("Begin").assistant(log.text("Begun."))
    LEFT[what][1](log)
    use = log.agent_use("explorer", "Ask", "Ask the pilot")
    log.assistant(use)

    def asked(child: LogBuilder) -> None:
        LEFT[what][1](child)
        child.assistant(child.text("the pilot says so" if what == "--no-subagents" else "y"))
        child.assistant(child.text("Done asking."))

    log.subagent(use, "explorer", "Ask", asked)
    return log.assistant(log.text("End of it."))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", LEFT)
def test_a_kind_is_left_out_of_the_session_and_of_its_subagents(tmp_path: Path, what: str, form: str) -> None:
    given = source(tmp_path / "logs", several(what))
    words = LEFT[what][0]
    assert holds(shared(given, tmp_path / f"with-{FORMS[form]}", form), words)
    made = shared(given, tmp_path / FORMS[form], form, what)
    assert not holds(made, words)
    assert holds(made, "End of it.")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["--no-subagents", "--no-tools"])
def test_the_last_words_of_a_subagent_are_its_own(tmp_path: Path, what: str, form: str) -> None:
    """They go with it, as an answer and as news of the background; that it was asked, and for what, stays."""
    log = LogBuilder(session_id=SESSION, cwd=CWD)
    log.prompt("Begin").assistant(use := log.agent_use("explorer", "Ask", "Ask the pilot"))
    log.subagent(use, "explorer", "Ask", lambda child: child.assistant(child.text("shoals to port")))
    log.assistant(late := log.agent_use("explorer", "Wait", "Wait for the pilot"))
    log.subagent(late, "explorer", "Wait", lambda child: child.assistant(child.text("reefs abeam")), background=True)
    log.call("TaskOutput", {"task_id": log.children[-1].agent, "block": True}, "<output>reefs abeam</output>")
    log.assistant(log.text("Waiting.")).notify(late, "Agent Wait completed", "reefs abeam").assistant(log.text("Aye."))
    given = source(tmp_path / "logs", log)
    whole = shared(given, tmp_path / f"with-{FORMS[form]}", form)
    assert holds(whole, "shoals to port")
    assert holds(whole, "reefs abeam")
    made = shared(given, tmp_path / FORMS[form], form, what, "--no-subagents")
    assert not holds(made, "shoals to port")
    assert not holds(made, "reefs abeam")
    assert holds(made, "Ask the pilot")
    assert holds(made, "Agent Wait completed")


def test_a_turn_is_left_out_with_all_that_it_started(given: tuple[str, str], tmp_path: Path) -> None:
    """Its prompt, calls, answers, subagents and spilled results; every finding is kept, so that nothing else acts."""
    keep = [arg for rule in {one["rule"] for one in found(given)} for arg in ("--keep", rule)]
    made = shared(given, tmp_path / "all.tar.gz", "bundle", *keep)
    assert leaked(made, SECRETS) == set(SECRETS)
    made = shared(given, tmp_path / "cut.tar.gz", "bundle", "--without", "2", *keep)
    assert leaked(made, SECRETS) == {"prompt", "thought", "title"}
    assert run("share", SESSION, *given, "--without", "9", "--dry-run").code == 3


def test_the_title_is_not_told_by_a_turn_that_is_left_out(tmp_path: Path) -> None:
    log = LogBuilder(session_id=SESSION, cwd=CWD)
    log.prompt("Confide in me").assistant(log.text("Yes?")).prompt("Mend it").assistant(log.text("Mended."))
    given = source(tmp_path / "logs", log)
    for form, name in FORMS.items():
        assert not holds(shared(given, tmp_path / name, form, "--without", "1"), "Confide")


def test_choices_are_remembered_for_the_project_and_in_private(
    given: tuple[str, str], tmp_path: Path, home: Path
) -> None:
    shared(given, tmp_path / "a.html", "html", "--term", "metres", "--no-thinking")
    again = shared(given, tmp_path / "b.html", "html")
    assert not holds(again, "metres")
    assert json.loads(run("share", SESSION, *given, "-n", "--json").out)["report"]["left_out"]["kinds"] == ["thinking"]
    assert holds(shared(given, tmp_path / "c.html", "html", "--fresh"), "metres")
    kept = [path for path in (home / "xdg_data_home").rglob("*.json") if path.is_file()]
    assert kept
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


def test_a_folder_takes_the_place_of_an_earlier_share_and_of_nothing_else(
    given: tuple[str, str], tmp_path: Path
) -> None:
    made = shared(given, tmp_path / "talk", "site")
    (made / "page-099.html").write_text("of before")
    shared(given, made, "site")
    assert not (made / "page-099.html").exists()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "index.html").write_text("years of work")
    done = run("share", SESSION, *given, "--site", "-o", str(other), "--yes")
    assert done.code == 10
    assert (other / "index.html").read_text() == "years of work"


def test_the_report_tells_counts_and_is_attached(given: tuple[str, str], tmp_path: Path) -> None:
    made = shared(given, tmp_path / "talk", "site", "--without", "3")
    report = json.loads((made / "report.json").read_bytes())
    assert report["left_out"]["turns"] == 1
    assert sum(count["places"] for count in report["found"]) >= len(SECRETS)
    assert all(count["kept"] == 0 for count in report["found"])
    page = (made / "index.html").read_text()
    inside = page.split('<script type="application/json" id="report">')[1].split("</script>")[0]
    assert json.loads(inside) == report
    assert f"rules {report['rules']}" in page.split("<footer")[1]
    with tarfile.open(shared(given, tmp_path / "t.tar.gz", "bundle", "--without", "3")) as archive:
        held = archive.extractfile("report.json")
        assert held is not None
        assert json.load(held) == report


def test_pages_tell_programs_that_show_links_what_they_are(given: tuple[str, str], tmp_path: Path) -> None:
    made = shared(given, tmp_path / "talk", "site", "--title", "Gauge <b>& co", "--url", "https://example.org/talk/")
    page = (made / "index.html").read_text()
    assert '<meta property="og:title" content="Gauge &lt;b&gt;&amp; co">' in page
    assert '<meta property="og:image" content="https://example.org/talk/preview.png">' in page
    assert '<meta property="og:image:type" content="image/png">' in page
    assert (made / "preview.png").read_bytes().startswith(b"\x89PNG")
    drawn = (made / "preview.svg").read_text()
    assert "Gauge &lt;b&gt;&amp; co" in drawn
    assert "3 prompts" in drawn
    assert not any(secret in drawn for secret in ALL.values())
    one = shared(given, tmp_path / "talk.html", "html").read_text()
    assert '<meta property="og:image" content="data:image/svg+xml;base64,' in one


def test_where_nothing_draws_png_the_picture_is_svg(
    given: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unspool.share.publish.to_png", lambda _: None)
    made = shared(given, tmp_path / "talk", "site", "--url", "https://example.org/talk/")
    assert (
        '<meta property="og:image" content="https://example.org/talk/preview.svg">' in (made / "index.html").read_text()
    )
    assert not (made / "preview.png").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--html, --site, --bundle, --gist"),
        (("--html",), "needs -o"),
        (("--gist", "-o", "x"), "leave -o out"),
        (("--bundle", "--public"), "add --gist"),
    ],
    ids=["nothing", "no file", "gist to a file", "public bundle"],
)
def test_what_cannot_be_is_said(given: tuple[str, str], arguments: tuple[str, ...], says: str) -> None:
    done: Outcome = run("share", SESSION, *given, *arguments, "--yes")
    assert done.code == 2
    assert says in done.err


def test_a_thought_in_which_something_was_replaced_stays_a_thought(given: tuple[str, str], tmp_path: Path) -> None:
    made = shared(given, tmp_path / "t.tar.gz", "bundle")
    with tarfile.open(made) as archive:
        held = archive.extractfile("session.jsonl")
        assert held is not None
        blocks = [block for line in held for block in json.loads(line).get("message", {}).get("content", ())]
    thoughts = [block for block in blocks if isinstance(block, dict) and block["type"] == "thinking"]
    assert [one["signature"] for one in thoughts] == [""]
    assert thoughts[0]["thinking"].startswith("The token is [redacted:gitlab-token-1]")


def test_a_log_whose_name_tells_somebody_is_shared_under_another(tmp_path: Path) -> None:
    path = tmp_path / f"{PERSONAL['user']}-talk.jsonl"
    log = LogBuilder(session_id=f"{PERSONAL['user']}-talk", cwd=CWD)
    path.write_bytes(log.prompt("Ahoy").assistant(log.text("Aye, in the fog.")).to_bytes())
    for form, name in FORMS.items():
        done = run("share", str(path), f"--{form}", "-o", str(tmp_path / "made" / name), "--yes")
        assert done.code == 0, done.err
        assert leaked(tmp_path / "made" / name, ALL) == set()
        assert holds(tmp_path / "made" / name, "Aye, in the fog.")


def test_an_export_of_the_web_is_shared_like_a_log(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in session().to_bytes().splitlines()]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"loglines": lines}, indent=1))
    done = run("share", str(path), "--html", "-o", str(tmp_path / "x.html"), "--yes")
    assert done.code == 0, done.err
    assert leaked(tmp_path / "x.html", ALL) == set()
    assert holds(tmp_path / "x.html", TOLD)


def test_pictures_in_answers_of_tools_are_left_out(tmp_path: Path) -> None:
    log = LogBuilder(session_id=SESSION, cwd=CWD)
    picture = log.image(make_png(4, 4, bytes(16)))
    log.prompt("Look").call(
        "Read", {"file_path": "/srv/a.png"}, [picture], {"type": "image", "file": picture["source"]}
    )
    given = source(tmp_path / "logs", log.assistant(log.text("Seen.")))
    words = picture["source"]["data"][:24]
    assert holds(shared(given, tmp_path / "a.tar.gz", "bundle"), words)
    assert not holds(shared(given, tmp_path / "b.tar.gz", "bundle", "--no-images"), words)
