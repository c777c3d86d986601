"""Our server in the settings of other programs: put in, taken out, and everything else as it was."""

import json
import tomllib
from pathlib import Path

import pytest

from unspool.agents.mcp_clients import CLIENTS, McpClient
from unspool.errors import Unreadable

COMMAND = ("/usr/bin/python3", "-P", "-m", "unspool", "mcp")
JSON = """{
    "theme": "dark", "größe": 1.50,
    "%s": {
        "other": {"command": "x"}
    },
    "last": null
}
"""
TOML = '# mine\nmodel = "gpt"  # good\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\nsize = 1.50\n'


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> McpClient:
    found: McpClient = request.param
    return found


def parsed(path: Path, data: bytes) -> dict[str, object]:
    read = tomllib.loads if path.suffix == ".toml" else json.loads
    found: dict[str, object] = read(data.decode())
    return found


def sample(client: McpClient) -> str:
    return TOML if client.path.endswith(".toml") else JSON % client.table


def test_an_entry_is_put_in_and_taken_out_and_the_rest_stays(client: McpClient, tmp_path: Path) -> None:
    first = client.edit(tmp_path, tmp_path, COMMAND)
    assert first.before == b""
    first.path.parent.mkdir(parents=True, exist_ok=True)
    first.path.write_text(sample(client), "utf-8")
    edit = client.edit(tmp_path, tmp_path, COMMAND)
    before, after = parsed(edit.path, edit.before), parsed(edit.path, edit.after)
    entry = after[client.table].pop("unspool")  # type: ignore[attr-defined]
    assert (entry["command"], entry["args"]) == (COMMAND[0], [*COMMAND[1:]])
    assert after == before
    assert edit.after.count(b"1.50") == 1
    if client.path.endswith(".toml"):
        assert edit.after.startswith(edit.before)
    edit.path.write_bytes(edit.after)
    assert not client.edit(tmp_path, tmp_path, COMMAND).changes
    changed = client.edit(tmp_path, tmp_path, ("elsewhere", "mcp"))
    assert changed.after.count(b"unspool") == 1
    assert client.edit(tmp_path, tmp_path, ()).after == edit.before


def test_a_file_that_is_not_there_is_made(client: McpClient, tmp_path: Path) -> None:
    edit = client.edit(tmp_path, tmp_path, COMMAND)
    assert tmp_path in edit.path.parents
    assert [*parsed(edit.path, edit.after)] == [client.table]
    assert not client.edit(tmp_path, tmp_path, ()).changes


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]", b'{"mcpServers": 1, "servers": 1}', b"// comment\n{}", b"[[[["])
def test_a_file_that_is_something_else_is_left_alone(client: McpClient, tmp_path: Path, data: bytes) -> None:
    path = client.edit(tmp_path, tmp_path, ()).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if path.suffix == ".toml" and data == b"[]":
        data = b"mcp_servers = 1"
        path.write_bytes(data)
    with pytest.raises(Unreadable):
        client.edit(tmp_path, tmp_path, COMMAND)
    assert path.read_bytes() == data
