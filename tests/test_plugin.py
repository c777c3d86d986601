"""The plugin lies as Claude Code documents it: manifests, commands by their names, hooks that never make it wait.

The documented layout: `.claude-plugin/marketplace.json` at the root of the marketplace with `name`, `owner.name` and
`plugins`, whose `source` is a path from that root that begins with `./`; in the plugin, only the manifest lies below
`.claude-plugin/`, commands lie in `commands/`, hooks in `hooks/hooks.json` under the key `hooks`.
"""

import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

import unspool
from tests.cli.fakes import on_path, program
from unspool.agents.base import MARK
from unspool.agents.claude_code.settings import EVENTS
from unspool.cli.group import cli
from unspool.share.select_files import MARKER
from unspool.store.sync.service import plan
from unspool.store.sync.service.plan import ServiceJob

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))
KEBAB = "^[a-z0-9]+(-[a-z0-9]+)*$"
TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
WORDS = {"type": "array", "items": TEXT}
RESERVED = re.compile(r"claude|anthropic|agent-skills|knowledge-work-plugins|life-sciences")
"""Names of marketplaces that only the agent's maker may use hold one of these."""


def shape(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these documented fields and no others: an unknown one is ignored, which may be a misspelling."""
    fields = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": fields, "additionalProperties": False}


PERSON = shape({"name": TEXT}, {"email": TEXT, "url": TEXT})
ABOUT = {"description": TEXT, "version": TEXT, "author": PERSON, "license": TEXT, "keywords": WORDS}
ENTRY = shape(
    {"name": {**TEXT, "pattern": KEBAB}, "source": {**TEXT, "pattern": r"^\./(?!.*\.\.)"}},
    {**ABOUT, "category": TEXT, "tags": WORDS, "strict": {"type": "boolean"}},
)
MARKETPLACE = shape(
    {"name": {**TEXT, "pattern": KEBAB}, "owner": PERSON, "plugins": {"type": "array", "items": ENTRY, "minItems": 1}},
    {"description": TEXT, "version": TEXT},
)
MANIFEST = shape({"name": {**TEXT, "pattern": KEBAB}}, {**ABOUT, "homepage": TEXT, "repository": TEXT})
HOOK = shape({"type": {"const": "command"}, "command": TEXT}, {"timeout": {"type": "number", "exclusiveMinimum": 0}})
MATCHED = shape({"hooks": {"type": "array", "items": HOOK, "minItems": 1}}, {"matcher": TEXT})
HOOKS = shape(
    {"hooks": shape({}, {event: {"type": "array", "items": MATCHED} for event in ("SessionEnd", "PreCompact")})},
    {"description": TEXT},
)
FRONT = {"description", "argument-hint", "allowed-tools", "disable-model-invocation", "model"}


def loaded(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def front(path: Path) -> tuple[dict[str, str], str]:
    """The fields above a command's words, and the words."""
    _, fields, body = path.read_text("utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in fields.splitlines()), body


def hooked() -> dict[str, Any]:
    found: dict[str, Any] = loaded(PLUGIN / "hooks" / "hooks.json")["hooks"]
    return found


@pytest.mark.parametrize(
    ("path", "documented"),
    [
        (ROOT / ".claude-plugin" / "marketplace.json", MARKETPLACE),
        (PLUGIN / ".claude-plugin" / "plugin.json", MANIFEST),
        (PLUGIN / "hooks" / "hooks.json", HOOKS),
    ],
    ids=["marketplace", "manifest", "hooks"],
)
def test_a_file_has_the_documented_fields(path: Path, documented: dict[str, Any]) -> None:
    """All that are required, of the documented types, and none that nobody reads."""
    jsonschema.Draft7Validator(documented).validate(loaded(path))


def test_the_marketplace_leads_to_the_plugin() -> None:
    """Each source is a folder below the root that has the plugin of that name; the name is nobody else's."""
    found = loaded(ROOT / ".claude-plugin" / "marketplace.json")
    assert not RESERVED.search(found["name"])
    assert len({entry["name"] for entry in found["plugins"]}) == len(found["plugins"])
    for entry in found["plugins"]:
        assert loaded(ROOT / entry["source"] / ".claude-plugin" / "plugin.json")["name"] == entry["name"]


def test_the_manifest_is_of_this_version() -> None:
    """Its name makes the commands `/unspool:share` and `/unspool:search`."""
    found = loaded(PLUGIN / ".claude-plugin" / "plugin.json")
    assert found["name"] == "unspool"
    assert found["version"] == unspool.__version__
    assert {path.stem for path in COMMANDS} == {"share", "search"}


def test_parts_lie_where_they_are_looked_for() -> None:
    """Below `.claude-plugin` only manifest and icon; nothing leads out of the plugin, for it is copied alone."""
    assert {path.name for path in (PLUGIN / ".claude-plugin").iterdir()} == {"plugin.json", "icon.png"}
    assert {path.name for path in PLUGIN.iterdir()} == {".claude-plugin", "commands", "hooks", "README.md"}
    assert not [path for path in PLUGIN.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_says_what_it_may_run(path: Path) -> None:
    """Documented fields only; it takes the user's words, and may run nothing but unspool."""
    fields, body = front(path)
    assert set(fields) <= FRONT
    assert fields["description"]
    assert "$ARGUMENTS" in body
    allowed = fields["allowed-tools"].split(", ")
    assert all(re.fullmatch(r"Bash\(unspool (?:--version|\w+:\*)\)", one) for one in allowed)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_runs_what_there_is(path: Path) -> None:
    """Each command and option of unspool that it names exists, and is allowed."""
    fields, body = front(path)
    for words in re.findall(r"`unspool ([a-z][^`]*)`", body):
        name, *rest = words.split()
        found = cli.get_command(click.Context(cli), name)
        assert found is not None, f"no command {name}"
        assert f"Bash(unspool {name}:*)" in fields["allowed-tools"]
        known = {option for one in found.params for option in one.opts} | {"--help"}
        assert [word for word in rest if word.startswith("-") and word not in known] == []


def test_sharing_is_asked_for_and_leaves_no_trace() -> None:
    """The model cannot start it by itself, it shares the session it is called in, and its answer is marked."""
    fields, body = front(PLUGIN / "commands" / "share.md")
    assert fields["disable-model-invocation"] == "true"
    assert "${CLAUDE_SESSION_ID}" in body
    assert body.index("--dry-run") < body.index("--yes")
    assert body.rstrip().endswith(MARKER)


def test_hooks_are_those_that_watch_installs() -> None:
    """The same events and the same command, but for the paths that only an installation knows."""
    assert tuple(hooked()) == EVENTS
    for entries in hooked().values():
        ((one,),) = [entry["hooks"] for entry in entries]
        assert one["type"] == "command"
        mine, theirs = (shlex.split(text) for text in (one["command"], plan.command(ServiceJob(Path("archive")))))
        at = theirs.index(MARK) + 1
        assert mine[:at] == theirs[:at]
        assert mine[at:] == ["unspool", "sync", "-q"]


@pytest.mark.skipif(os.name != "posix", reason="a shell is needed")
@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_starts_the_sync_and_waits_for_nothing(
    event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is done at once, silently, while what it started goes on."""
    program(tmp_path / "bin", "unspool", f'sleep 0.5; echo "$@" > "{tmp_path}/asked"')
    on_path(tmp_path / "bin", monkeypatch)
    done = subprocess.run(["/bin/sh", "-c", hooked()[event][0]["hooks"][0]["command"]], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert not (tmp_path / "asked").exists()
    end = time.monotonic() + 90
    while not (tmp_path / "asked").exists() or not (tmp_path / "asked").read_text():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert (tmp_path / "asked").read_text() == "sync -q\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell is needed")
def test_a_hook_without_the_program_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where unspool is not installed, the agent notices nothing."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    done = subprocess.run(
        ["/bin/sh", "-c", hooked()["SessionEnd"][0]["hooks"][0]["command"]], capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
