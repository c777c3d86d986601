"""The programs that can ask an MCP server, and the file in which each lists its servers."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unspool.agents.claude_code.settings import json_append, json_begin, json_items, json_remove
from unspool.agents.records import SettingsEdit
from unspool.errors import Unreadable

SERVER = "unspool"
"""What we are called in those lists."""
SESSION_VARIABLES = ("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID")
"""Variables in which an agent tells the programs that it starts which session it is in."""


class McpClient(NamedTuple):
    name: str
    title: str
    path: str
    """Of its file: below the home, or, where it has no tilde, below the folder that one stands in."""
    table: str
    """The name under which servers are listed."""
    kind: bool = False
    """Whether an entry has to say that it is a program."""

    def edit(self, home: Path, folder: Path, command: Sequence[str]) -> SettingsEdit:
        """The change that lists our server, started by a command; with none, that takes it out. All else stays.

        Unreadable where the file cannot be read as what it should be.
        """
        path = (home / self.path[2:] if self.path.startswith("~/") else folder / self.path).resolve()
        try:
            before = path.read_bytes()
        except FileNotFoundError:
            before = b""
        except OSError as error:
            raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None
        try:
            text = before.decode("utf-8")
            change = _in_toml if path.suffix == ".toml" else _in_json
            after = change(text, self.table, self._entry(command))
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{path} is not what servers are listed in ({error}); it is left as it is.") from None
        return SettingsEdit(path, before, after.encode("utf-8"))

    def _entry(self, command: Sequence[str]) -> dict[str, Any]:
        if not command:
            return {}
        return {**({"type": "stdio"} if self.kind else {}), "command": command[0], "args": [*command[1:]]}


CLIENTS = (
    McpClient("claude", "Claude Code", "~/.claude.json", "mcpServers", kind=True),
    McpClient("codex", "Codex", "~/.codex/config.toml", "mcp_servers"),
    McpClient("cursor", "Cursor", "~/.cursor/mcp.json", "mcpServers"),
    McpClient("vscode", "VS Code", ".vscode/mcp.json", "servers", kind=True),
    McpClient("gemini", "Gemini CLI", "~/.gemini/settings.json", "mcpServers"),
)


def _in_json(text: str, table: str, entry: dict[str, Any]) -> str:
    whole = json.loads(text) if text.strip() else {}
    listed = _listed(whole, table)
    if listed.get(SERVER, {}) == entry:
        return text
    text = text if text.strip() else "{}\n"
    if SERVER in listed:
        at = _member(text, json_begin(text), table)
        text = json_remove(text, at, [item.name for item in json_items(text, at)].index(SERVER))
    if entry:
        if table not in whole:
            text = json_append(text, json_begin(text), table, {})
        text = json_append(text, _member(text, json_begin(text), table), SERVER, entry)
    wanted = {**listed, SERVER: entry} if entry else {name: one for name, one in listed.items() if name != SERVER}
    if json.loads(text) != {**whole, table: wanted}:
        raise ValueError("it is written in a way that cannot be changed from here")
    return text


def _listed(whole: Any, table: str) -> dict[str, Any]:
    """The servers of a file; ValueError, as for all that is wrong with one, where they are no such list."""
    found = whole.get(table, {}) if isinstance(whole, dict) else None
    if not isinstance(found, dict):
        raise ValueError(f"`{table}` lists nothing")  # noqa: TRY004
    return found


def _member(text: str, at: int, name: str) -> int:
    return next(item.at for item in json_items(text, at) if item.name == name)


_HEADER = re.compile(r"\s*\[")


def _in_toml(text: str, table: str, entry: dict[str, Any]) -> str:
    """A table of its own at the end; what stands before it is not touched."""
    before = tomllib.loads(text)
    listed = _listed(before, table)
    if listed.get(SERVER, {}) == entry:
        return text
    lines = text.splitlines(keepends=True)
    if SERVER in listed:
        lines = _without_table(lines, table)
    kept = "".join(lines)
    if entry:
        gap = "" if not kept.strip() else "\n" if kept.endswith("\n") else "\n\n"
        values = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in entry.items())
        kept = f"{kept}{gap}[{table}.{SERVER}]\n{values}"
    others = {name: one for name, one in listed.items() if name != SERVER}
    wanted = {**others, **({SERVER: entry} if entry else {})}
    rest = {name: one for name, one in before.items() if name != table}
    after = tomllib.loads(kept)
    if {**after, table: after.get(table, {})} != {**rest, table: wanted}:
        raise ValueError("our table is written in a way that cannot be changed from here")
    return kept


def _without_table(lines: list[str], table: str) -> list[str]:
    """The lines without our table and those below it, with the blank line before."""
    ours = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\.\s*[\"']?{SERVER}[\"']?\s*[\].]")
    kept: list[str] = []
    inside = False
    for line in lines:
        if _HEADER.match(line):
            inside = ours.match(line) is not None
            if inside and kept and not kept[-1].strip():
                kept.pop()
        if not inside:
            kept.append(line)
    return kept
