"""The folder that a session was sent to or prepared in, as a library."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from unspool.agents import AGENTS, CodingAgent, FoundLog
from unspool.agents.stores import AGENTS_FOLDER
from unspool.errors import NotALog
from unspool.hub_client.prepare import PushedLibrary

KEY = "aaaaaaaa-0000-4000-8000-000000000001"


def sent(folder: Path) -> LogBuilder:
    log = LogBuilder(session_id=KEY, cwd="/harbour")
    log.prompt("Mend the gauge").assistant(log.text("Done."))
    (folder / f"{KEY}.jsonl").write_bytes(log.write(folder / "agent").read_bytes())
    return log


def test_only_the_agent_that_wrote_a_log_is_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent(tmp_path)
    asked: list[str] = []

    def telling(agent: CodingAgent) -> Callable[[Path], Iterator[FoundLog]]:
        usual = agent.discover

        def discover(root: Path) -> Iterator[FoundLog]:
            asked.append(agent.id)
            return usual(root)

        return discover

    for agent in AGENTS:
        monkeypatch.setattr(agent, "discover", telling(agent))
    library = PushedLibrary(tmp_path, KEY)
    found = library.pushed()
    assert (found.session_id, library.logs()) == (KEY, (found,))
    assert asked == [found.agent_id]
    assert [turn.prompt.text for turn in library.open(found).turns if turn.prompt] == ["Mend the gauge"]


def test_a_log_that_its_agent_would_file_otherwise_is_found_with_its_subagents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(tmp_path)
    below = tmp_path / KEY / AGENTS_FOLDER / "agent-7.jsonl"
    below.parent.mkdir(parents=True)
    below.write_bytes(b"{}\n")
    usual = PushedLibrary(tmp_path, KEY).pushed()
    for agent in AGENTS:
        monkeypatch.setattr(agent, "discover", lambda _: iter(()))
    found = PushedLibrary(tmp_path, KEY).pushed()
    assert (found.path, found.agent_id, found.size) == (usual.path, usual.agent_id, usual.size)
    assert [one.path for one in found.agents] == [str(below)]


def test_a_log_whose_lines_tell_nothing_is_known_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.jsonl").write_text("nothing\n")
    assert PushedLibrary(tmp_path, KEY).pushed().session_id == KEY
    with pytest.raises(NotALog):
        PushedLibrary(tmp_path, "other").pushed()
