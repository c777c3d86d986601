"""Make the old data anew: `python tests/old_data/make.py CHECKOUT`, with a checkout of the version that shall write it.

`CHECKOUT/scripts/run --version` must have been run once: its `.venv` is used. Everything is made below /tmp/old.
"""

import json
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from hashlib import sha256
from pathlib import Path

HERE, ROOT = Path(__file__).resolve().parent, Path("/tmp/old")
HOME, HUB, SITE, SHARED, SEALED = (ROOT / name for name in ("home", "hub", "site", "shared", "sealed"))
SOURCE, KEPT = HOME / ".claude", HOME / ".local/share/unspool"
PLAN, WORK, RELEASE, SHORT, FORGOTTEN = "a1a7e000", "b0a75000", "2e1ea5e0", "0c7a9e50", "50adf00d"
DATA = ("--data", HUB)

AS_THE_SAME_MACHINE = "import platform; platform.node = lambda: 'harbour-pc'; from unspool.cli import main; main()"

LOGS = """
import sys
from pathlib import Path
from unspool.demo import sessions
for log in sessions():
    if log.session_id[:8] in sys.argv[2:]:
        log.write(Path(sys.argv[1]))
"""

MARKS = """
import sys
from pathlib import Path
from unspool.app.marks.store import Marks
marks = Marks(Path(sys.argv[1]))
plan, work = "a1a7e000-0c33-4d0c-8e33-000000000003", "b0a75000-0d44-4d0c-8e44-000000000004"
marks.change(plan, starred=True, title="The plan for the port", tags=["tides", "to read"])
marks.change(work, note="Where the hours\\nwere mended.", tags=["tides"])
marks.hide("/home/dev/attic")
marks.save("Dear ones", "sort=cost&kind=planning")
marks.close()
"""

OPTIONS = """
import json
import click
from unspool.cli.group import cli
def told(command, context):
    found = {"options": sorted({name for one in command.params if isinstance(one, click.Option)
             for name in (*one.opts, *one.secondary_opts)}),
             "arguments": sum(isinstance(one, click.Argument) for one in command.params)}
    if isinstance(command, click.Group):
        inner = {name: command.get_command(context, name) for name in command.list_commands(context)}
        found["commands"] = {name: told(one, click.Context(one, info_name=name, parent=context))
                             for name, one in inner.items()}
    return found
print(json.dumps(told(cli, click.Context(cli, info_name="unspool"))))
"""

SETTINGS = """# my settings
theme = "dark"
font_size = "large"
density = "compact"
hide = ["thinking", "notices"]
sources = ["~/.claude"]
time_zone = "Europe/Berlin"
per_page = 7
"""

ASKED = {
    "list": "list --all",
    "list-projects": "list --projects",
    "info": f"info {PLAN}",
    "info-work": f"info {WORK}",
    "context": f"context {WORK}",
    "search": "search tide",
    "search-kind": "search kind:call tool:bash",
    "search-substring": "search --substring zone --hits 9",
    "search-regex": "search --regex tid(e|al)s?",
    "search-file": "search --file tides.py",
    "search-command": "search --command git",
    "usage": "usage --tz UTC",
    "usage-week": "usage weekly --tz UTC --breakdown",
    "usage-month": "usage monthly --tz UTC --breakdown",
    "usage-blocks": "usage blocks --tz UTC",
    "usage-session": "usage --by session",
    "usage-project": "usage --by project",
    "usage-model": "usage --by model",
    "usage-tool": "usage --by tool",
    "usage-subagent": "usage --by subagent",
    "stats": "stats --tz UTC",
    "archive": "archive info",
    "verify": "verify",
    "recommend": f"recommend {WORK}",
    "lint": f"lint {RELEASE}",
    "redact": f"redact {PLAN}",
    "forget": f"forget {PLAN}",
}
"""What is asked with --json; all but the first few ask the archive."""


class Old:
    """The old version, in a home of its own."""

    def __init__(self, checkout: Path) -> None:
        self.python = str(checkout / ".venv/bin/python")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(HOME),
            "LOGNAME": "ada",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def script(self, text: str, *arguments: str | Path) -> str:
        """What a script says that has the old version's modules."""
        return self._run("-c", text, *map(str, arguments))

    def run(self, *arguments: str | Path, may_fail: bool = False) -> str:
        """What a command prints."""
        return self._run("-c", AS_THE_SAME_MACHINE, *map(str, arguments), may_fail=may_fail)

    def _run(self, *arguments: str, may_fail: bool = False) -> str:
        done = subprocess.run(
            [self.python, *arguments], env=self.environment, cwd=ROOT, text=True, capture_output=True, check=False
        )
        if done.returncode and not may_fail:
            sys.exit(f"{arguments[1:]}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


def keep(old: Old) -> None:
    """Archive and index: logs that grew, one that was written anew, one that is gone, one forgotten; marks."""
    old.script(LOGS, SOURCE, PLAN, WORK, RELEASE, SHORT, FORGOTTEN)
    log = next(SOURCE.glob(f"projects/*/{RELEASE}*.jsonl"))
    whole, times = log.read_bytes(), log.stat()
    lines = whole.splitlines(keepends=True)
    first = b"".join(lines[:6]).replace(b"release", b"release!")
    log.write_bytes(first)
    old.run("sync")
    for size in (len(lines) // 2, len(lines)):
        log.write_bytes(b"".join(lines[:size]))
        os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
        old.run("sync")
    files = {path.relative_to(SOURCE).as_posix(): [path.read_bytes()] for path in SOURCE.rglob("*") if path.is_file()}
    files[log.relative_to(SOURCE).as_posix()].insert(0, first)
    SHARED.mkdir()
    (SHARED / "digests.json").write_text(
        json.dumps(
            {
                name: [sha256(one).hexdigest() for one in all_]
                for name, all_ in sorted(files.items())
                if FORGOTTEN.encode() not in all_[0]
            },
            indent=1,
        )
    )
    old.run("forget", FORGOTTEN, "--yes")
    for gone in (*SOURCE.glob(f"projects/*/{FORGOTTEN}*"), *SOURCE.glob(f"projects/*/{SHORT}*")):
        gone.unlink()
    old.run("sync")
    old.script(MARKS, KEPT)


def show(old: Old) -> None:
    """A site, exports, and all that is made to be shared."""
    old.run("all", "-o", SITE, "-q", "-j", "1", "-s", SOURCE)
    for session, name in ((PLAN, "json"), (SHORT, "session-share")):
        old.run("export", session, "-f", name, "-o", SHARED / f"export.{name}")
    old.run("share", PLAN, "--bundle", "-o", SHARED / "talk.tar.gz", "--yes", "-s", SOURCE)


def lock(old: Old) -> None:
    """Marks that only a key opens, as those of an encrypted archive are."""
    one = ROOT / "one"
    old.script(LOGS, one, SHORT)
    (SHARED / "key").write_text("a key of thirty-two letters, old")
    old.run("sync", "-s", one, "--archive", SEALED)
    old.script(MARKS, SEALED)
    old.run("archive", "encrypt", "--archive", SEALED, "--new-key-file", SHARED / "key")


def serve(old: Old) -> None:
    """A hub with people, tokens, a team, projects, pushed sessions, shares, a hold and an invitation."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [old.python, "-c", AS_THE_SAME_MACHINE, "hub", "--data", str(HUB), "--port", str(port)]
    with (ROOT / "hub.out").open("w") as out:
        hub = subprocess.Popen(command, env=old.environment, cwd=ROOT, stdout=out, stderr=out)
    try:
        _wait(url)
        secrets = {"url": url, "owner": _token((ROOT / "hub.out").read_text()), **_people(old)}
        (ROOT / "token").write_text(str(secrets["ada"]))
        old.run("login", url, "--token-file", ROOT / "token")
        _push(old)
        secrets.update(_shares(old, url))
        old.run("hub", "hold", "add", "person", "bob", "--reason", "case 12", *DATA)
        secrets["head"] = old.run("hub", "audit", "verify", *DATA)
        (SHARED / "hub.json").write_text(json.dumps(secrets, indent=1))
        _hub_answers(old)
        _requests(url, secrets)
    finally:
        hub.terminate()
        hub.wait(60)


def _people(old: Old) -> dict[str, object]:
    """People with their tokens, a team and a project."""
    found: dict[str, object] = {}
    for name, *more in (("ada",), ("bob",), ("ci", "--service", "--scope", "push"), ("gone",)):
        found[name] = _token(old.run("hub", "people", "add", name, *more, *DATA))
    old.run("hub", "people", "end", "gone", *DATA)
    old.run("hub", "team", "add", "crew", *DATA)
    old.run("hub", "team", "join", "crew", "bob", *DATA)
    old.run("hub", "project", "add", "harbour", "--owner", "ada", *DATA)
    old.run("hub", "project", "grant", "harbour", "--team", "crew", "read", *DATA)
    old.run("hub", "invite", "add", "eve", *DATA)
    return found


def _push(old: Old) -> None:
    """A session with a subagent, and one in two steps that goes on after them."""
    log = next(SOURCE.glob(f"projects/*/{RELEASE}*.jsonl"))
    whole, times = log.read_bytes(), log.stat()
    for size, more in ((8, ("--project", "harbour=/home/dev/harbour")), (14, (PLAN,))):
        log.write_bytes(b"".join(whole.splitlines(keepends=True)[:size]))
        old.run("push", RELEASE, *more, "--yes")
    log.write_bytes(whole)
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))


def _shares(old: Old, url: str) -> dict[str, object]:
    """The addresses of a share with a password and of one that all of the hub find."""
    shared = ("share", SHORT, "--hub", url, "--yes", "--json")
    (SHARED / "word").write_text("harbour light\n")
    locked = json.loads(old.run(*shared, "--password-file", SHARED / "word", "--title", "Locked"))
    listed = json.loads(old.run(*shared, "--listed", "--raw", "--title", "Open to all"))
    return {"locked": locked["made"][0], "listed": listed["made"][0]}


def _hub_answers(old: Old) -> None:
    """What the commands of a hub answer."""
    asked = {
        "hub-people": "people list --all",
        "hub-teams": "team list",
        "hub-projects": "project list",
        "hub-rights": "project rights harbour",
        "hub-tokens": "token list --all",
        "hub-holds": "hold list",
        "hub-audit": "audit list -n 1000",
    }
    for name, words in asked.items():
        answer(name, "hub " + words, old.run("hub", *words.split(), "--json", *DATA))
    answer("shares", "shares list", old.run("shares", "list", "--json"))


def _requests(url: str, secrets: dict[str, object]) -> None:
    """What the hub itself answers to people."""
    kept = json.loads(_get(f"{url}/api/archive", str(secrets["bob"])))
    session = next(one["id"] for one in kept["sessions"] if one["key"].startswith(PLAN))
    asked = {
        "bob": ("me", "teams", "projects", "archive", f"archive/{session}", f"archive/{session}/files", "policy"),
        "ada": ("search?q=tide", "usage", "usage?by=model", "shares"),
        "owner": ("people", "holds", "permits/harbour"),
    }
    for who, paths in asked.items():
        for path in paths:
            name = f"request-{who}-" + re.sub(r"\W+", "-", path.replace(session, "session"))
            answer(name, f"GET {who} /api/{path}", _get(f"{url}/api/{path}", str(secrets[who])))


def _get(url: str, token: str) -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request) as got:  # noqa: S310
            text = str(got.read(), "utf-8")
    except urllib.error.HTTPError as error:
        sys.exit(f"{url}: {error} {error.read().decode()}")
    return text


def answer(name: str, asked: str, got: str) -> None:
    """Write an answer down with what was asked."""
    (ROOT / "answers").mkdir(exist_ok=True)
    try:
        told = json.loads(got)
    except ValueError:
        sys.exit(f"no JSON: {asked}\n{got}")
    (ROOT / "answers" / f"{name}.json").write_text(json.dumps({"asked": asked, "answer": told}, indent=1))


def _wait(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url + "/healthz").close()  # noqa: S310
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
        else:
            return
    sys.exit("the hub does not answer")


def _token(text: str) -> str:
    return str(re.findall(r"uns_[\w-]+", text)[0])


def pack(name: str, *folders: Path) -> None:
    """One file of a kind."""
    with tarfile.open(HERE / f"{name}.tar.xz", "w:xz", preset=9) as made:
        for folder in folders:
            made.add(folder, str(folder.relative_to(ROOT)), filter=_plain)


def _plain(one: tarfile.TarInfo) -> tarfile.TarInfo | None:
    one.uid = one.gid = 0
    one.uname = one.gname = ""
    return None if one.name.endswith((".lock", "-shm", "-journal")) or "/assets" in one.name else one


def main() -> None:
    """Make everything, and pack it."""
    shutil.rmtree(ROOT, ignore_errors=True)
    old = Old(Path(sys.argv[1]).resolve())
    (HOME / ".config/unspool").mkdir(parents=True)
    (HOME / ".config/unspool/settings.toml").write_text(SETTINGS)
    keep(old)
    for name, words in ASKED.items():
        answer(name, words, old.run(*words.split(), "--json", may_fail=True))
    show(old)
    lock(old)
    serve(old)
    (HERE / "commands.json").write_text(old.script(OPTIONS))
    with lzma.open(HERE / "schema.json.xz", "wt") as schema:
        schema.write(old.run("schema"))
    pack("home", HOME / ".claude", HOME / ".config", HOME / ".local")
    pack("hub", HUB)
    pack("site", SITE)
    pack("shared", SHARED, ROOT / "answers", SEALED / "marks.db")


if __name__ == "__main__":
    main()
