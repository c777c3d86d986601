"""Where context files are found, which are passed over, and which a log says were loaded."""

import os
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from unspool.agents import AGENTS, CodingAgent, by_id
from unspool.agents.codex.items import loaded_instructions
from unspool.agents.context_files import (
    CONTEXT_KINDS,
    LARGEST,
    ContextPattern,
    find_context_files,
    fits,
    is_secret,
    patterns,
    project_scope,
)
from unspool.model.events import LoadedFile, words_digest

ALL = pytest.mark.parametrize("agent", AGENTS, ids=lambda one: one.id)


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(folder: Path, **places: str) -> dict[str, str]:
    """The kinds of the files that are found, by their paths below the folder."""
    listed = find_context_files(folder, patterns(**places))
    return {os.path.relpath(one.path, folder): one.kind for one in listed}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every name that any agent looks for is something else than a small file."""
    top = tmp_path_factory.mktemp("hostile")
    names = {name for agent in AGENTS for one in _patterns(agent) for name in one.names if "*" not in name}
    for number, name in enumerate(sorted(names)):
        path = top / name
        if number % 4 == 0:
            os.mkfifo(path)
        elif number % 4 == 1:
            path.symlink_to(path)
        elif number % 4 == 2:
            path.mkdir()
            (path / "loop").symlink_to(top)
            (path / ("\udcff" + "x.md")).write_bytes(b"\0\xff")
        else:
            path.write_bytes(bytes(LARGEST + 1))
    (top / "closed").mkdir(mode=0)
    return top


def _patterns(agent: CodingAgent) -> tuple[ContextPattern, ...]:
    own = agent.context_files
    return (*own.home, *own.project, *own.kept)


@ALL
def test_a_hostile_folder_raises_nothing_and_gives_only_small_plain_files(agent: CodingAgent, hostile: Path) -> None:
    own = agent.context_files
    for one in (*own.in_home(hostile), *own.in_project(hostile), *own.in_project(hostile / "closed")):
        assert one.kind in CONTEXT_KINDS
        assert one.status.st_size <= LARGEST
        assert Path(one.path).is_file()
    assert list(own.in_home(hostile / "not there")) == list(own.in_project(hostile / "\udcff\0")) == []


@ALL
def test_every_agent_reads_instructions_of_a_project(agent: CodingAgent) -> None:
    assert any(one.kind == "instructions" and len(one.names) == 1 for one in agent.context_files.project)
    assert {one.kind for one in _patterns(agent)} <= set(CONTEXT_KINDS)


def test_files_are_found_by_name_by_letters_and_at_any_depth(tmp_path: Path) -> None:
    put(tmp_path, **{"A.md": "", "rules/a.md": "", "rules/b/c.md": "", "rules/b/c.txt": "", "skills/x/run.sh": ""})
    places = {"instructions": "A.md rules/**/*.md", "skill": "skills/**"}
    instructions = dict.fromkeys(("A.md", "rules/a.md", "rules/b/c.md"), "instructions")
    assert found(tmp_path, **places) == {**instructions, "skills/x/run.sh": "skill"}
    assert found(tmp_path, command="rules/*.md") == {"rules/a.md": "command"}


def test_a_known_name_is_asked_for_without_listing_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, **{"A.md": "", ".agent/settings.json": ""})
    monkeypatch.setattr(os, "scandir", lambda _: pytest.fail("a folder was listed"))
    assert len(found(tmp_path, instructions="A.md", settings=".agent/settings.json", skill=".other/skills/**")) == 2


def test_what_lets_somebody_in_is_never_taken(tmp_path: Path) -> None:
    names = (".credentials.json", "auth.json", "oauth_creds.json", ".env", "server.pem", "github-token.json")
    put(tmp_path, **{f"skills/x/{name}": "secret" for name in names}, **{"skills/x/credentials.md": "how to"})
    assert found(tmp_path, skill="skills/**") == {"skills/x/credentials.md": "skill"}
    assert all(map(is_secret, names))


def test_a_large_file_a_pipe_and_a_link_that_leads_out_are_passed_over(tmp_path: Path) -> None:
    top = tmp_path / "top"
    put(tmp_path, **{"outside.md": "x", "top/AGENTS.md": "words", "top/.env": "x"})
    (top / "CLAUDE.md").symlink_to("AGENTS.md")
    (top / "OUT.md").symlink_to("../outside.md")
    (top / "ENV.md").symlink_to(".env")
    (top / "LOOP.md").symlink_to("LOOP.md")
    (top / "BIG.md").write_bytes(bytes(LARGEST + 1))
    os.mkfifo(top / "PIPE.md")
    listed = found(top, instructions="AGENTS.md CLAUDE.md OUT.md ENV.md LOOP.md BIG.md PIPE.md")
    assert set(listed) == {"AGENTS.md", "CLAUDE.md"}


def test_there_is_an_end_to_what_is_found(tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path, **{f"skills/{number}/{name}.md": "" for name in range(30)})
    assert len(found(tmp_path, skill="skills/**")) == 500


def test_a_whole_path_is_told_by_the_longest_pattern_that_it_ends_with() -> None:
    known = (*patterns(instructions="CLAUDE.md"), *patterns(skill=".claude/skills/**"))
    skill = project_scope("/p/.claude/skills/x/CLAUDE.md", known)
    assert skill is not None
    assert (skill.kind, skill.folder) == ("skill", "/p")
    nested = project_scope("/p/sub/CLAUDE.md", known)
    assert nested is not None
    assert (nested.kind, nested.folder) == ("instructions", "/p/sub")
    assert project_scope("/p/README.md", known) is None


@pytest.mark.parametrize(
    ("agent", "home", "project", "kept"),
    [
        ("claude-code", "settings.json settings", ".claude/agents/a.md agent", "projects/-p/memory/MEMORY.md memory"),
        ("codex", "prompts/fix.md command", ".codex/config.toml settings", " "),
        ("gemini", "GEMINI.md instructions", ".gemini/commands/a/b.toml command", " "),
        ("qwen", "QWEN.md instructions", "AGENTS.md instructions", " "),
        ("opencode", "agent/x.md agent", "opencode.json settings", " "),
        ("copilot", "mcp-config.json settings", ".github/copilot-instructions.md instructions",
         "session-state/1/plan.md plan"),
        ("cursor", "mcp.json settings", ".cursor/rules/a/b.mdc instructions", " "),
    ],
)  # fmt: skip
def test_each_agent_knows_its_own_files(agent: str, home: str, project: str, kept: str) -> None:
    own = by_id(agent).context_files
    for place, known in ((home, own.home), (project, own.project), (kept, own.kept)):
        path, kind = place.split(" ")
        assert [one.kind for one in known if fits(path.split("/"), one)][:1] == [kind][: bool(path)]


def test_instructions_that_a_rollout_repeats_are_those_of_the_folder_that_it_names() -> None:
    told = "# AGENTS.md instructions for /p/shop/\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"
    assert loaded_instructions(told) == ("/p/shop/AGENTS.md", "Be kind.")
    assert loaded_instructions("<user_instructions>") == loaded_instructions("") == ("", "")


def test_a_log_says_which_files_were_loaded(tmp_path: Path) -> None:
    log = LogBuilder(seed="loaded")
    log.prompt("go").attached("instructions", "x", files=[{"path": "/p/CLAUDE.md", "content": "Be kind.\n"}])
    log.attachment("nested_memory", path="/p/a/CLAUDE.md", content={"path": "/p/a/CLAUDE.md", "content": "Deep."})
    log.attachment("plan_file_reference", planFilePath="/h/plans/x.md", planContent="# Plan")
    log.attachment("invoked_skills", skills=[{"content": "Base directory for this skill: /h/skills/tide\n\nTell."}])
    log.attachment("nested_memory", path=7, content="odd").attachment("invoked_skills", skills="odd")
    with log.write(tmp_path).open("rb") as stream:
        events = by_id("claude-code").events(stream)
        assert list(events)
    assert set(events.facts.loaded) == {
        LoadedFile("/p/CLAUDE.md", words_digest("Be kind.")),
        LoadedFile("/p/a/CLAUDE.md", words_digest("Deep.")),
        LoadedFile("/h/plans/x.md", words_digest("# Plan")),
        LoadedFile("/h/skills/tide/SKILL.md", ""),
    }
