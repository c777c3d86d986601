"""What agents are told of context files: in the search, and of one session; redacted as all else is."""

from pathlib import Path

import pytest

from tests.context_scene import ContextScene, ago
from tests.mcp.asking import Asked

KEY = (
    "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2bC4dE6fG8hJ0kL2mN4pQ6rS8tU0vW2xY4zA6bC8dE0fG2hJ4kL6mN8pQ-AAAAAA"
)


@pytest.fixture
def server(home: Path, tmp_path: Path) -> Asked:
    scene = ContextScene(home)
    harbour = scene.project("harbour")
    scene.ran("crane", harbour, ago(3), session_id="crane-session")
    scene.put(harbour / "CLAUDE.md", "Use the derrick.\x1b[31m\n", ago(9))
    scene.put(scene.agent / "settings.json", f'{{"env": {{"DERRICK_KEY": "{KEY}"}}}}', ago(9))
    return Asked(tmp_path, source=scene.agent)


def test_the_search_tells_of_context_files_after_sessions_and_without_secrets(server: Asked) -> None:
    told = server.text("search", query="derrick")
    assert "file instructions" in told
    assert "version 1 of 1 | " in told
    settings = server.text("search", query="kind:settings derrick_key")
    assert "file settings" in settings
    assert KEY not in told + settings
    assert KEY[20:60] not in told + settings
    assert "[redacted:" in settings


def test_a_resource_tells_what_a_session_ran_under(server: Asked) -> None:
    server.text("sessions")  # which keeps what is new first

    async def ask(client: object) -> str:
        found = await client.read_resource("unspool://context-files/crane-session")  # type: ignore[attr-defined]
        return str(found.contents[0].text)

    told = server.with_client(ask)
    assert "instructions version 1 of 1, by time | " in told
    assert "| Use the derrick." in told
    assert "\x1b" not in told
    assert KEY[20:60] not in told
