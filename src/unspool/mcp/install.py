"""Lists unspool's MCP server in the settings of a client, or takes it out, by a plan that is shown before."""

from pathlib import Path

from unspool.agents.mcp_clients import CLIENTS
from unspool.store.sync.service.plan import InstallPlan, WriteStep, unspool_command

NAMES = tuple(client.name for client in CLIENTS)


def client_entry(name: str, *, there: bool) -> InstallPlan:
    """What it takes that a client starts the server by itself, or no longer; no steps where that is so already."""
    client = next(client for client in CLIENTS if client.name == name)
    edit = client.edit(Path.home(), Path.cwd(), (*unspool_command(), "mcp") if there else ())
    if not edit.changes:
        return InstallPlan()
    note = f"{client.title} reads it when it starts." if there else ""
    step = WriteStep(edit.path, edit.before or None, edit.after, backup=bool(edit.before))
    return InstallPlan((step,), (note,) if note else ())
