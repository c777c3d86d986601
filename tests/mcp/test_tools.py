"""The tools as an agent sees them: lean lines, references that the next call takes, its own session left out."""

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.mcp.asking import FIRST_LIGHT, Asked
from tests.store.library.authored import AuthoredRepository
from unspool.figures.tokens import estimate_tokens


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(tmp_path_factory.mktemp("asked"))


def reference(text: str, words: str) -> str:
    """The reference at the beginning of the line that holds these words."""
    line = next(line for line in text.splitlines() if words in line)
    return line.split()[0]


def test_the_list_of_tools_is_short_and_says_that_they_only_read(asked: Asked) -> None:
    tools = asked.with_client(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        *("search", "sessions", "outline", "read", "file_history", "blame", "usage", "solved"),
    ]
    for tool in tools:
        assert tool.annotations is not None
        hints = tool.annotations.read_only_hint, tool.annotations.idempotent_hint, tool.annotations.open_world_hint
        assert hints == (True, True, False)
        assert tool.output_schema is None
    whole = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert estimate_tokens(json.dumps(whole, separators=(",", ":"))) <= 1_500


def test_a_session_is_found_outlined_and_read_by_references(asked: Asked) -> None:
    found = asked.text("search", query="comma decimal")
    place = reference(found, "harbour: Tide table reader")
    assert re.fullmatch(r"S\d+", place)
    outline = asked.text("outline", session=place)
    prompt = reference(outline, "Start a small Python package")
    assert re.fullmatch(rf"{place}\.\d+", prompt)
    turn = asked.text("read", session=prompt)
    call = reference(turn, "MultiEdit")
    assert re.fullmatch(rf"{re.escape(prompt)}\.\d+", call)
    whole = asked.text("read", session=call)
    assert "| MultiEdit {" in whole
    assert "--- ok" in whole
    assert asked.text("read", session=f"{FIRST_LIGHT}.2") == turn  # full ids work too
    assert "| Start a small" in asked.text("read", session=f"{prompt}.0")


def test_the_conversation_of_a_subagent_has_a_reference(asked: Asked) -> None:
    turn = asked.text("read", session=f"{FIRST_LIGHT}.2")
    subagent = re.search(r"subagent (S\d+)", turn)
    assert subagent
    assert "asked" in asked.text("read", session=subagent[1])


def test_what_is_cut_is_had_by_the_next_call_and_nothing_is_lost(asked: Asked) -> None:
    whole = asked.text("read", session=FIRST_LIGHT, max_tokens=8_000)
    assert "cut:" not in whole
    told, session, start = [], FIRST_LIGHT, 0
    while True:
        piece = asked.text("read", session=session, start=start, max_tokens=600)
        told += [line.split()[0] for line in piece.splitlines() if re.match(r"S\d+\.", line)]
        cut = re.search(r"^cut: use session=(\S+) start=(\d+)$", piece, re.M)
        if cut is None:
            break
        session, start = cut[1], int(cut[2])
    assert told == [line.split()[0] for line in whole.splitlines() if re.match(r"S\d+\.", line)]


def test_a_long_result_comes_in_pages_of_characters(tmp_path: Path) -> None:
    log = LogBuilder(session_id="long")
    use = log.use("Bash", command="seq 9000")
    output = "\n".join(f"line {number} of a long output" for number in range(9_000))
    log.prompt("Count").assistant(use).result(use, output)
    asked, start, pages = Asked(tmp_path, log), 0, []
    while True:
        page = asked.text("read", session="long.1.1", start=start, max_tokens=8_000)
        lines = page.splitlines()
        pages += [line[2:] for line in lines if line.startswith("| ")]
        cut = re.search(r"^cut: use start=(\d+)$", page, re.M)
        if cut is None:
            break
        assert int(cut[1]) > start
        start = int(cut[1])
    numbers = re.findall(r"line (\d+) of a long output", "\n".join(pages))
    assert {int(number) for number in numbers} >= set(range(9_000)) - split_lines(pages)
    short = asked.text("read", session="long.1", show="results")
    assert re.search(r"rest: session=S\d+\.1\.1 start=\d+", short)


def split_lines(pages: list[str]) -> set[int]:
    """The numbers of lines that a page ended in the middle of; each page holds one at most."""
    whole = re.compile(r"line (\d+) of a long output")
    joined = "".join(pages)
    return {int(number) for number in whole.findall(joined)} - {int(n) for n in whole.findall("\n".join(pages))}


def test_sessions_are_listed_newest_first_and_page_by_page(asked: Asked) -> None:
    every = asked.text("sessions", limit=30).splitlines()[:-1]
    first = asked.text("sessions", limit=2).splitlines()
    assert [line.split()[0] for line in first[:2]] == [line.split()[0] for line in every[:2]]
    assert first[2] == "cut: use start=2"
    again = asked.text("sessions", limit=2, start=2).splitlines()
    assert again[0] == every[2]
    assert "no such session" in asked.text("sessions", project="nowhere at all")
    assert "neither a date" in asked.fault("sessions", since="whenever")


def test_the_history_of_a_file_names_the_prompts(asked: Asked) -> None:
    told = asked.text("file_history", path="harbour/harbour/tides.py")
    assert re.search(r"^S\d+\.\d+ \d{4}-\d\d-\d\d \d\d:\d\d (?:edit|write) \+\d+ −\d+ \| ", told, re.M)
    assert "Several files" in asked.text("file_history", path="harbour")
    assert "No session touched it" in asked.text("file_history", path="nothing/like/it")


def test_usage_is_a_small_table(asked: Asked) -> None:
    for by in ("day", "month", "model", "project", "session"):
        told = asked.text("usage", by=by)
        assert re.search(r"^all: .*requests, ≥\$", told, re.M)
    assert "since" in asked.text("usage", limit=1)


def test_an_error_is_told_with_what_solved_it(asked: Asked) -> None:
    told = asked.text("solved", error="E   ValueError: could not convert string to float: '17,4' in /srv/x.py:12")
    assert re.search(r"^S\d+\.2\.9 \S+ solved \| ", told)
    assert "changed | " in told
    assert re.search(r"worked \| python -m pytest", told)
    assert "No session" in asked.text("solved", error="a quorum of zebras was not met")


def test_blame_names_prompts_and_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = AuthoredRepository(tmp_path, 7)
    log = made.session("Build a quay")
    made.agent_writes(log)
    made.commit("A quay", log)
    made.person_edits()
    made.commit("By hand")
    asked = Asked(tmp_path / "asked", *made.sessions)
    monkeypatch.chdir(made.top)
    told = asked.text("blame", path="quay.py")
    assert re.search(r"^\d+(?:-\d+)? exact S\d+\.1 \| Build a quay$", told, re.M)
    assert re.search(r"^\d+(?:-\d+)? person \w{10} \| Ana", told, re.M)
    assert "line" in asked.fault("blame", path="quay.py", first=9_000)
    assert "no such file" in asked.fault("blame", path="no such file")


def test_resources_and_prompts_lead_to_the_same(asked: Asked) -> None:
    templates = asked.with_client(lambda client: client.list_resource_templates()).resource_templates
    assert {one.uri_template for one in templates} == {
        f"unspool://{name}/{{id}}" for name in ("session", "plan", "context-files")
    }
    read = asked.with_client(lambda client: client.read_resource(f"unspool://session/{FIRST_LIGHT}"))
    assert "Start a small Python package" in read.contents[0].text  # type: ignore[union-attr]
    plan = asked.with_client(lambda client: client.read_resource("unspool://plan/57024000"))
    assert "index:" in plan.contents[0].text  # type: ignore[union-attr]
    given = {"path": "tides.py"}
    prompt = asked.with_client(lambda client: client.get_prompt("what_do_we_know", given))
    assert "file_history" in prompt.messages[0].content.text  # type: ignore[union-attr]
    names = [one.name for one in asked.with_client(lambda client: client.list_prompts()).prompts]
    assert names == ["what_do_we_know", "continue_where_we_left_off"]


def current(folder: Path, name: str, **more: str) -> LogBuilder:
    log = LogBuilder(session_id=name, cwd=str(folder), start=datetime.fromtimestamp(time.time() - 60, UTC), **more)  # type: ignore[arg-type]
    return log.prompt(f"Mind the zebra crossing of {name}").assistant(log.text("Minded."))


@pytest.mark.parametrize("way", ["folder", "variable"])
def test_the_session_that_asks_is_left_out_unless_it_is_wanted(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
    monkeypatch.chdir(here if way == "folder" else tmp_path)
    asked = Asked(tmp_path, current(here, "own"), current(elsewhere, "other"))
    if way == "variable":
        monkeypatch.setenv("CLAUDE_SESSION_ID", "own")
    for tool, given in {"search": {"query": "zebra"}, "sessions": {}}.items():
        told = asked.text(tool, **given)
        assert "of other" in told
        assert "of own" not in told
        assert "of own" in asked.text(tool, **given, include_current=True)
    assert "of other" in asked.text("outline", session="latest")
    assert "of own" in asked.text("outline", session="own")
