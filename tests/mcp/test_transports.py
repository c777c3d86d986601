"""The server as a real process, asked by the official client in both eras of the protocol: standard input and HTTP."""

import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.cli.running import run
from tests.waiting import ending
from unspool.demo import write_demo

ERAS = ["legacy", "auto", "2026-07-28"]


@pytest.fixture(autouse=True)
def demo(home: Path) -> None:
    """The demo where the agent keeps its logs; kept already, so that the first answer waits for nothing."""
    write_demo(home / ".claude")
    assert run("sync").code == 0


def started(*arguments: str, **more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "unspool", "mcp", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **more})


@pytest.mark.parametrize("era", ERAS)
def test_a_client_asks_over_standard_input(era: Any) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "unspool", "mcp"], env=dict(os.environ))

    async def ask() -> tuple[Any, Any, str]:
        async with Client(server, mode=era) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search", {"query": "comma decimal"})
            return tools, found, client.protocol_version

    with ending():
        tools, found, version = asyncio.run(ask())
    assert len(tools.tools) == 8
    assert not found.is_error
    assert "Tide table reader" in found.content[0].text
    assert (version < "2026-07-28") == (era == "legacy")


def say(stream: "IO[bytes] | None", *lines: bytes) -> None:
    assert stream is not None
    stream.write(b"".join(line + b"\n" for line in lines))
    stream.flush()


HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "rubbish", "version": "0"}},
}


def test_rubbish_on_standard_input_ends_nothing() -> None:
    rubbish = [b"", b"not json", b"\xff\xfe\x00", b"[]", b"{}", b'"x"', b"[" * 5_000, b'{"jsonrpc":"2.0","id":1}']
    rubbish += [b'{"jsonrpc":"2.0","id":2,"method":"no/such"}', b'{"jsonrpc":"2.0","method":"tools/call","params":7}']
    process = started()
    with ending(), process:
        say(process.stdin, *rubbish, json.dumps(HELLO).encode())
        say(process.stdin, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', *rubbish)
        call = {"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "sessions", "arguments": {}}}
        say(process.stdin, json.dumps(call).encode())
        assert process.stdout is not None
        answers = []
        for line in process.stdout:
            answers.append(json.loads(line))  # nothing else is ever printed there
            if answers[-1].get("id") == "last":
                break
        say(process.stdin, b"")
        out, err = process.communicate()
    assert out == b""
    assert "harbour" in answers[-1]["result"]["content"][0]["text"]
    assert process.returncode == 0, err


class Served(NamedTuple):
    port: int
    token: str

    def asked(self, body: Any = HELLO, **headers: str) -> int:
        """The status of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        given = {**usual, "Authorization": f"Bearer {self.token}", **headers}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", "/mcp", data, {name: one for name, one in given.items() if one})
        status = connection.getresponse().status
        connection.close()
        return status


@pytest.fixture
def served() -> Iterator[Served]:
    process = started("--http", "--port", str(free_port()), UNSPOOL_MCP_TOKEN="")
    with ending(), process:
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp; .*: (\S+)$", told)
        assert found, told
        yield Served(int(found[1]), found[2])
        process.terminate()
        out, _ = process.communicate()
        assert out == b""


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.mark.parametrize("era", ERAS)
def test_a_client_asks_over_http_with_the_token(era: Any, served: Served) -> None:
    async def ask() -> Any:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http_client:
            transport = streamable_http_client(f"http://127.0.0.1:{served.port}/mcp", http_client=http_client)
            async with Client(transport, mode=era) as client:
                return await client.call_tool("outline", {"session": "1c0ffee0"})

    found = asyncio.run(ask())
    assert "Start a small Python package" in found.content[0].text


def test_nobody_gets_in_without_token_or_by_another_name(served: Served) -> None:
    assert served.asked() == 200
    for wrong in ("", "Bearer", "Bearer x", f"Basic {served.token}", f"Bearer {served.token}x"):
        assert served.asked(Authorization=wrong) == 401
    assert served.asked(Host="evil.example") == 421
    assert served.asked(Host=f"evil.example:{served.port}") == 421
    assert served.asked(Origin="http://evil.example") == 403
    assert served.asked(b"x" * 2_000_000) == 413
    for rubbish in (b"", b"not json", b"[" * 50_000, b"\xff", b"[]"):
        assert served.asked(rubbish) in (400, 422)
    assert served.asked() == 200


def test_a_token_that_was_given_is_not_printed() -> None:
    process = started("--http", "--port", str(free_port()), UNSPOOL_MCP_TOKEN="a-token-of-mine")
    with ending(), process:
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        port = re.search(r":(\d+)/mcp", told)
        assert port
        assert Served(int(port[1]), "a-token-of-mine").asked() == 200
        process.terminate()
        process.communicate()
    assert "a-token-of-mine" not in told
    assert "UNSPOOL_MCP_TOKEN" in told
