"""The documentation as a site that can be searched: the pages of this folder, and one for each command with a picture
of what it prints for the demo. `python -m docs.site FOLDER` builds it; `scripts/docs --site` sets up what that needs.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from docs.make import ROOT, utc
from docs.picture import picture
from unspool.cli.group import COMMANDS, cli
from unspool.demo import write_demo
from unspool.errors import UsageProblem

COLUMNS = 112
_LINES = 36
"""Lines of a picture; more are more than one looks at."""
SHOWN = {
    "list": "", "agents": "", "info": "57024", "context": "57024 --entries 5", "show": "57024 --turn 2",
    "export": "57024 -f text", "json": "57024 -o pages/", "all": "-o site/", "sync": "", "watch": "--install hooks",
    "search": "tide table", "context-files": "", "file": "tides.py", "scan": "", "blame": "tides.py",
    "why": "tides.py:3", "compare": "57024 57024#1", "outline": "57024", "solved": "could not convert string to float",
    "mcp": "--install claude", "usage": "daily", "sql": "--views", "stats": "", "doctor": "", "verify": "",
    "restore": "57024 --to back/", "archive": "info", "recommend": "57024", "clone": "57024 --preset heavy -n",
    "fork": "57024 --at 2 -n", "lint": "57024", "repair": "57024 -n", "move": "57024 --to moved/ -n",
    "hand-over": "57024 --to codex", "redact": "57024", "share": "57024 --html -o s.html --yes", "uninstall": "-n",
}  # fmt: skip
"""What a command's picture shows; of one that is not named, how it is called."""


def build(folder: Path) -> None:
    """Make the site in a folder, in place of what is there."""
    import yaml  # type: ignore[import-untyped]  # comes with the generator

    with tempfile.TemporaryDirectory() as work:
        source = Path(work, "pages")
        _copy_pages(source)
        settings = yaml.safe_load((ROOT / "docs/mkdocs.yml").read_text("utf-8"))
        settings["nav"].insert(2, {"Commands": list(_command_pages(source))})
        settings |= {"docs_dir": source.name, "site_dir": "site"}
        Path(work, "mkdocs.yml").write_text(yaml.safe_dump(settings), "utf-8")
        zensical = Path(sys.executable).with_name("zensical")
        command = [str(zensical), "build", "--strict", "-f", f"{work}/mkdocs.yml"]
        subprocess.run(command, check=True, cwd=work)  # noqa: S603  our own generator
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(Path(work, "site"), folder)


def _copy_pages(source: Path) -> None:
    """Pages and pictures where they lie in the repository, so that links between them hold."""
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("*.py", "*.yml", "__pycache__"))
    (source / "plugin").mkdir()
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "plugin/README.md"):
        shutil.copy(ROOT / name, source / name)
    titles = [
        (path.name, path.read_text("utf-8").splitlines()[0].lstrip("# "))
        for path in (source / "docs/decisions").iterdir()
    ]
    listed = "\n".join(f"- [{title}]({name})" for name, title in sorted(titles))
    (source / "docs/decisions/README.md").write_text(
        f"# Decisions\n\nWhere there was a choice: what was chosen, and why.\n\n{listed}\n"
    )
    readme = (source / "README.md").read_text("utf-8").replace("](docs/decisions)", "](docs/decisions/README.md)")
    (source / "README.md").write_text(readme, "utf-8")


def _command_pages(source: Path) -> Iterator[dict[str, str]]:
    """A page for each command, with its picture; what the navigation calls it."""
    (source / "commands").mkdir()
    with demo_home():
        for name, line in COMMANDS:
            drawn = _picture(name)
            (source / "commands" / f"{name}.svg").write_text(drawn, "utf-8")
            told = CliRunner().invoke(cli, [name, "--help"], prog_name="unspool", terminal_width=88).output.rstrip()
            page = f"# unspool {name}\n\n{line}\n\n![What it prints]({name}.svg)\n\n```text\n{told}\n```\n"
            (source / "commands" / f"{name}.md").write_text(page, "utf-8")
            yield {name: f"commands/{name}.md"}


def _picture(name: str) -> str:
    words = [name, *SHOWN.get(name, "--help").split()]
    done = CliRunner().invoke(cli, words, prog_name="unspool", color=True)
    asks, found = (
        isinstance(done.exception, UsageProblem),
        done.exit_code == 1 and isinstance(done.exception, SystemExit),
    )
    if done.exception is not None and not asks and not found:
        raise done.exception
    lines = (done.output or str(done.exception or "")).rstrip().splitlines()
    lines = [*lines[:_LINES], *(["…"] if len(lines) > _LINES else [])]
    shown = "\n".join(lines).replace(os.environ["HOME"], "~").replace(sys.executable, "python")
    return picture(f"$ unspool {' '.join(words)}\n{shown}", f"c-{name}", COLUMNS)


@contextmanager
def demo_home() -> Iterator[None]:
    """A home in which the demo's sessions are a person's own, and kept, as long as the `with` lasts."""
    gone = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "NO_COLOR")
    with tempfile.TemporaryDirectory() as home:
        given = {"HOME": home, "CLAUDE_CONFIG_DIR": f"{home}/.claude", "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
        others = {name: value for name, value in os.environ.items() if name not in gone}
        with mock.patch.dict(os.environ, {**others, **given}, clear=True), utc(), chdir(home):
            write_demo(Path(home, ".claude"))
            CliRunner().invoke(cli, ["sync", "-q"])
            yield


if __name__ == "__main__":
    build(Path(sys.argv[1]))
