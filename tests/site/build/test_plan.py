"""A whole site: made once, brought up to date, never half there."""

import json
import os
import re
import shutil
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from tests.site.build.sites import contents, made, pages_of, put, session, state
from tests.site.links import broken
from unspool.demo import write_demo
from unspool.errors import UnspoolError
from unspool.figures import Figures, figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.build import plan, run
from unspool.site.build import run as worker
from unspool.site.build.disk import lock_folder
from unspool.site.build.manifest import MANIFEST_FILE, load_manifest
from unspool.site.build.run import read_for_pages
from unspool.site.options import SiteOptions
from unspool.store.library import Library


def test_every_link_of_a_site_leads_somewhere(tmp_path: Path) -> None:
    """The demo's site is complete, from the first page to the last anchor."""
    report = made(write_demo(tmp_path / "demo"), tmp_path / "site")
    assert report.made == 7
    assert report.failures == []
    assert broken(tmp_path / "site") == []
    assert (tmp_path / "site" / "harbour" / "index.html").is_file()


def test_nothing_is_opened_or_written_where_nothing_has_changed(tmp_path: Path) -> None:
    """A second run reads no log and writes no file, and says so."""
    source = put(tmp_path / "logs", *(session(number) for number in range(5)))
    made(source, tmp_path / "site")
    before = state(tmp_path / "site")
    with mock.patch.object(plan, "start", side_effect=AssertionError("a log was opened")):
        report = made(source, tmp_path / "site")
    assert (report.made, report.unchanged, report.indexed, report.files) == (0, 5, False, 0)
    assert state(tmp_path / "site") == before


def test_only_what_has_changed_is_made(tmp_path: Path) -> None:
    """A session that goes on is made again, the others are left alone, and the indexes know of it."""
    source = put(tmp_path / "logs", session(1), session(2))
    made(source, tmp_path / "site")
    before = state(tmp_path / "site")
    log = session(2)
    put(source, log.prompt("And then?").assistant(log.text("Then we sailed.")))
    report = made(source, tmp_path / "site")
    assert (report.made, report.unchanged) == (1, 1)
    assert "Then we sailed." in (pages_of(tmp_path / "site", 2) / "page-001.html").read_text()
    kept = {name: at for name, at in state(tmp_path / "site").items() if "00000001" in name}
    assert kept == {name: at for name, at in before.items() if "00000001" in name}
    assert "2 prompts" in next((tmp_path / "site").glob("loom/index.html")).read_text()


@pytest.mark.parametrize("again", [{"options": SiteOptions(theme="dark")}, {"force": True}, {"strays": True}], ids=str)
def test_other_options_make_everything_again(again: dict[str, object], tmp_path: Path) -> None:
    """Other options, or being told to, makes every session."""
    source = put(tmp_path / "logs", session(1), session(2))
    made(source, tmp_path / "site")
    assert made(source, tmp_path / "site", **again).made == 2


def test_another_program_makes_everything_again(tmp_path: Path) -> None:
    """Other code, templates or styles make every session again."""
    source = put(tmp_path / "logs", session(1), session(2))
    made(source, tmp_path / "site")
    with mock.patch("unspool.site.build.plan.fingerprint", return_value="another"):
        assert made(source, tmp_path / "site").made == 2


def test_pages_that_are_gone_are_made_again(tmp_path: Path) -> None:
    """A session's folder that somebody removed comes back."""
    source = put(tmp_path / "logs", session(1), session(2))
    made(source, tmp_path / "site")
    shutil.rmtree(pages_of(tmp_path / "site", 1))
    assert made(source, tmp_path / "site").made == 1
    assert broken(tmp_path / "site") == []


def test_sessions_whose_logs_are_gone_stay(tmp_path: Path) -> None:
    """Pages and index entries outlive the log, through further runs."""
    source = put(tmp_path / "logs", session(1, "The lost one"), session(2))
    made(source, tmp_path / "site")
    next(source.rglob("00000001*.jsonl")).unlink()
    put(source, session(3))
    report = made(source, tmp_path / "site")
    assert (report.made, report.unchanged, report.gone) == (1, 1, 1)
    assert (pages_of(tmp_path / "site", 1) / "page-001.html").is_file()
    index = (tmp_path / "site" / "loom" / "index.html").read_text()
    assert "The lost one" in index
    assert "Question 3" in index
    assert broken(tmp_path / "site") == []


def test_projects_of_one_name_lie_apart(tmp_path: Path) -> None:
    """Two projects called the same never overwrite each other, in the same source or in two; nor do later ones."""
    logs = [session(1, folder="/home/ada/loom"), session(2, folder="/home/bob/loom")]
    source = put(tmp_path / "logs", *logs)
    made(source, tmp_path / "site")
    put(source, session(3, folder="/srv/loom"))
    made(source, tmp_path / "site")
    folders = [pages_of(tmp_path / "site", number).parent.name for number in (1, 2, 3)]
    assert sorted(folders) == ["loom", "loom-2", "loom-3"]
    for number in (1, 2, 3):
        assert f"Question {number}" in (pages_of(tmp_path / "site", number).parent / "index.html").read_text()
    assert broken(tmp_path / "site") == []


def test_a_project_called_like_our_own_folders(tmp_path: Path) -> None:
    """A project may be called `assets` or `search`."""
    names = ("assets", "search", "ASSETS", "...", "ü/../..")
    source = put(tmp_path / "logs", *(session(at, folder=f"/home/ada/{name}") for at, name in enumerate(names)))
    assert made(source, tmp_path / "site").made == len(names)
    assert broken(tmp_path / "site") == []
    assert not list(tmp_path.glob("*.html"))


def test_one_session_in_two_files_is_one_session(tmp_path: Path) -> None:
    """Of logs of the same id, one of them packed, the one that was active last is shown."""
    import gzip

    source = put(tmp_path / "logs", session(1))
    log = next(source.rglob("*.jsonl"))
    log.with_suffix(".jsonl.gz").write_bytes(gzip.compress(session(1, "Packed").to_bytes()))
    assert made(source, tmp_path / "site").made == 1
    (page,) = (tmp_path / "site").glob("loom/00000001*/index.html")
    assert "Packed" in page.read_text()


def test_a_broken_log_stops_nobody(tmp_path: Path) -> None:
    """A log that cannot be read is told with its reason; the others are made; its page says why; it is tried again."""
    source = put(tmp_path / "logs", session(1), session(2))
    log = next(source.rglob("00000002*.jsonl"))
    good = log.read_bytes()
    log.with_suffix(".jsonl.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    log.unlink()
    report = made(source, tmp_path / "site", jobs=2)
    assert report.made == 1
    (failure,) = report.failures
    assert failure.log.endswith(".jsonl.gz")
    assert "damaged" in failure.why
    assert "damaged" in (pages_of(tmp_path / "site", 2) / "index.html").read_text()
    assert broken(tmp_path / "site") == []
    assert len(made(source, tmp_path / "site").failures) == 1
    log.with_suffix(".jsonl.gz").unlink()
    log.write_bytes(good)
    assert made(source, tmp_path / "site").made == 1


def test_what_nobody_foresaw_stops_nobody(tmp_path: Path) -> None:
    """An error of our own in one session is that session's failure; the pages it had stay."""
    source = put(tmp_path / "logs", session(1), session(2))
    made(source, tmp_path / "site")

    def failing(found: Session, prices: PriceTable) -> Figures:
        if found.id.startswith("00000001"):
            raise ZeroDivisionError("oh")
        return figures(found, prices)

    with mock.patch.object(worker, "figures", failing):
        report = made(source, tmp_path / "site", force=True)
    assert report.made == 1
    assert [failure.why for failure in report.failures] == ["ZeroDivisionError: oh"]
    assert "Answer 1." in (pages_of(tmp_path / "site", 1) / "page-001.html").read_text()


def test_empty_logs_are_not_listed(tmp_path: Path) -> None:
    """A log without conversation has a page that says so, is in no index, and is not opened again."""
    source = put(tmp_path / "logs", session(1))
    log = next(source.rglob("*.jsonl")).with_name("00000002-0000-4000-8000-000000000000.jsonl")
    log.write_text('{"type":"file-history-snapshot","messageId":"x","snapshot":{}}\n')
    report = made(source, tmp_path / "site")
    assert (report.made, report.empty) == (1, 1)
    assert "00000002" not in (tmp_path / "site" / "loom" / "index.html").read_text()
    assert made(source, tmp_path / "site").empty == 1


def test_one_project_of_many(tmp_path: Path) -> None:
    """Only the project asked for is made; what was made before stays, in the indexes too."""
    source = put(tmp_path / "logs", session(1, folder="/home/ada/loom"), session(2, folder="/home/ada/boat"))
    assert made(source, tmp_path / "site", project="boat").made == 1
    assert not (tmp_path / "site" / "loom").exists()
    assert made(source, tmp_path / "site", project="loom").made == 1
    assert made(source, tmp_path / "site").made == 0
    index = (tmp_path / "site" / "index.html").read_text()
    assert "Question 1" in index
    assert "Question 2" in index


def test_many_processes_make_the_same_site(tmp_path: Path) -> None:
    """However many processes make it, the site is the same, byte by byte."""
    source = write_demo(tmp_path / "demo")
    made(source, tmp_path / "one", jobs=1)
    made(source, tmp_path / "many", jobs=4)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_a_site_brought_up_to_date_is_a_site_made_at_once(tmp_path: Path) -> None:
    """Sessions that come one by one, chains included, end in the very pages that one run over all of them makes."""
    demo = write_demo(tmp_path / "demo")
    slow = tmp_path / "slow"
    for log in sorted(demo.rglob("*.jsonl")):
        target = slow / log.relative_to(demo)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(log, target)
        for beside in log.parent.glob(f"{log.stem}.meta.json"):
            shutil.copy2(beside, target.parent)
        made(slow, tmp_path / "grown")
    shutil.copytree(demo, slow, dirs_exist_ok=True)
    made(slow, tmp_path / "grown")
    made(slow, tmp_path / "fresh")
    grown, fresh = contents(tmp_path / "grown"), contents(tmp_path / "fresh")
    assert sorted(grown) == sorted(fresh)
    assert [name for name in fresh if grown[name] != fresh[name]] == []


def test_a_later_session_that_carries_out_a_plan_changes_the_earlier_one(tmp_path: Path) -> None:
    """The planning session gets its link when the session that implements it appears."""
    source = write_demo(tmp_path / "demo")
    logs = {log.stem: log for log in source.glob("projects/*/*.jsonl") if not log.stem.startswith("agent-")}
    linked = [s for s in map(Library([source]).open, logs) if any(link.relation == "source" for link in s.links)]
    later = linked[0]
    earlier = next(link.session for link in later.links if link.relation == "source")
    kept = logs[later.id].read_bytes()
    logs[later.id].unlink()
    made(source, tmp_path / "site")
    page = tmp_path / "site" / "harbour" / earlier / "index.html"
    assert f"{later.id}/index.html" not in page.read_text()
    logs[later.id].write_bytes(kept)
    report = made(source, tmp_path / "site")
    assert f"{later.id}/index.html" in page.read_text()
    assert report.unchanged > 0
    assert broken(tmp_path / "site") == []


def test_the_manifest_names_no_place_of_the_machine(tmp_path: Path) -> None:
    """What lies in a published folder does not tell where the logs are."""
    made(put(tmp_path / "logs", session(1)), tmp_path / "site")
    assert str(tmp_path) not in (tmp_path / "site" / MANIFEST_FILE).read_text()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":99}'], ids=repr)
def test_a_damaged_manifest_is_the_same_as_none(damage: bytes, tmp_path: Path) -> None:
    """The site is made again, whole."""
    source = put(tmp_path / "logs", session(1))
    made(source, tmp_path / "site")
    (tmp_path / "site" / MANIFEST_FILE).write_bytes(damage)
    assert made(source, tmp_path / "site").made == 1
    assert broken(tmp_path / "site") == []


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has such locks")
def test_two_runs_do_not_write_at_once(tmp_path: Path) -> None:
    """A second run into the same folder is told so."""
    source = put(tmp_path / "logs", session(1))
    (tmp_path / "site").mkdir()
    with lock_folder(tmp_path / "site"), pytest.raises(UnspoolError, match="Another run"):
        made(source, tmp_path / "site")


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was made before Ctrl-C is not made again, and the site is whole in between."""
    source = put(tmp_path / "logs", *(session(number) for number in range(6)))
    seen: list[int] = []

    def stop(done: int, _: int) -> None:
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_build(source, tmp_path / "site", stop)
    assert broken(tmp_path / "site") == []
    made_before = sum(kept.card is not None for kept in load_manifest(tmp_path / "site").sessions.values())
    assert made_before >= 3
    report = made(source, tmp_path / "site")
    assert report.unchanged == made_before
    assert broken(tmp_path / "site") == []
    assert not list((tmp_path / "site").rglob("*.part"))


def run_build(source: Path, site: Path, watch: object) -> None:
    from unspool.site.build.plan import build_site

    build_site(Library([source]).logs(), site, plan.BuildOptions(), watch)  # type: ignore[arg-type]


def test_progress_adds_up(tmp_path: Path) -> None:
    """Each session that is done is told with its bytes, of all bytes there are to do."""
    source = put(tmp_path / "logs", *(session(number) for number in range(4)))
    heard: list[tuple[int, int]] = []
    run_build(source, tmp_path / "site", lambda done, total: heard.append((done, total)))
    assert len(heard) == 4
    assert {total for _, total in heard} == {sum(done for done, _ in heard)}


def test_names_from_logs_are_only_words(tmp_path: Path) -> None:
    """Titles and paths with markup are shown as text on the pages of the archive."""
    evil = '<script>alert(1)</script><img src=x onerror="x">'
    source = put(tmp_path / "logs", session(1, evil, folder="/home/ada/<b>loom"))
    made(source, tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r"<script>alert|<img src=x|<b>loom", page.read_text())


def test_reasons_are_sentences() -> None:
    """Whatever went wrong is told in words."""
    assert run.error_reason(UnspoolError("It is so.")) == "It is so."
    assert run.error_reason(PermissionError(13, "Permission denied", "/x")) == "Permission denied: /x."
    assert run.error_reason(MemoryError()) == "There was not enough memory."


def test_tasks_can_travel_to_another_process() -> None:
    """What a worker is given holds no open file and no function."""
    assert issubclass(worker.BuildTask, msgspec.Struct)
    assert issubclass(worker.BuildContext, msgspec.Struct)


def test_a_stray_subagent_is_a_session_only_if_asked(tmp_path: Path) -> None:
    """A subagent's log whose session is gone is left out, unless subagents are asked for."""
    source = put(tmp_path / "logs", session(1))
    log = session(9)
    stray = next(source.rglob("*.jsonl")).with_name("agent-abcdef.jsonl")
    lines = log.to_bytes().replace(b'"isSidechain":false', b'"isSidechain":true')
    stray.write_bytes(lines)
    assert made(source, tmp_path / "site").made == 1
    assert made(source, tmp_path / "site", strays=True).made == 2


@pytest.mark.parametrize("field", ["moved", "forked"])
def test_a_session_that_comes_later_is_led_to_by_those_that_name_it(field: str, tmp_path: Path) -> None:
    """A session that says where it went on, or what it was copied from, links there once the other is in the site."""
    first = session(1)
    if field == "moved":
        first.side("continued-in", continuedInSessionId=session(2).session_id)
    else:
        first = session(2).copied(first.session_id, fork=True)
    source = put(tmp_path / "logs", first, session(3))
    made(source, tmp_path / "site")
    page = pages_of(tmp_path / "site", 1) / "index.html"
    assert f"{session(2).session_id}/index.html" not in page.read_text()
    put(source, session(2))
    report = made(source, tmp_path / "site")
    assert f"{session(2).session_id}/index.html" in page.read_text()
    assert (report.made, report.unchanged) == (2, 1)
    assert made(source, tmp_path / "site").made == 0
    assert broken(tmp_path / "site") == []


def test_another_title_is_told_by_the_sessions_around_it(tmp_path: Path) -> None:
    """When a session of a chain is renamed, the pages that lead to it say so in the same run."""
    source = write_demo(tmp_path / "demo")
    logs = {log.stem: log for log in source.glob("projects/*/*.jsonl") if not log.stem.startswith("agent-")}
    later = next(s for s in map(Library([source]).open, logs) if any(link.relation == "source" for link in s.links))
    earlier = next(link.session for link in later.links if link.relation == "source")
    made(source, tmp_path / "site")
    with logs[later.id].open("a") as log:
        log.write(json.dumps({"type": "custom-title", "customTitle": "Renamed at sea", "sessionId": later.id}) + "\n")
    report = made(source, tmp_path / "site")
    page = tmp_path / "site" / "harbour" / earlier / "index.html"
    assert "Renamed at sea" in page.read_text()
    assert 2 <= report.made < len(logs) - 1
    assert made(source, tmp_path / "site").made == 0


def test_links_are_those_of_the_library(tmp_path: Path) -> None:
    """Whatever is left out for speed, each session has the links and the title that opening it alone would give."""
    source = write_demo(tmp_path / "demo")
    library = Library([source])
    asked = plan.BuildPlan(library.logs(), tmp_path / "site", plan.BuildOptions())
    for step in asked.steps:
        whole = library.open(step.found)
        ours = read_for_pages(step.found, asked.near(step), asked.names(step)).session
        assert {(one.session, one.relation, one.title) for one in ours.links} == {
            (one.session, one.relation, one.title) for one in whole.links
        }
        assert ours.title == whole.title
        assert ours.kind == whole.kind


def test_totals_count_copied_prompts_once(tmp_path: Path) -> None:
    one = session(1)
    fork = one.copied("99999999-0000-4000-8000-000000000009").wait(60).prompt("Only here")
    source = put(tmp_path / "logs", one, fork.assistant(fork.text("No.")))
    made(source, tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    own = sum(overview.turns for overview in Library([source]).overviews() if overview.history is None)
    told = re.search(r"Prompts</\w+>\s*<[^>]*>\s*([\d,]+)", page)
    assert told is not None
    assert int(told[1]) == own + 1
