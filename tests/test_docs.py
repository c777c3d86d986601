"""The documentation says what is so: generated parts are current, examples run, links lead somewhere."""

import doctest
import functools
import os
import re
import shlex
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import click
import pytest

import unspool
from docs import make
from tests.cli.running import run
from tests.hub.running import started
from tests.hub.shares.bundles import bundle
from unspool import errors
from unspool.cli.group import COMMANDS, cli
from unspool.demo import write_demo
from unspool.render.json import SCHEMA, Document
from unspool.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MADE_PAGES = ("agents", "app-api", "cli", "design", "format", "json", "prices", "settings", "tables", "tools")
MADE = [
    make.HELP,
    make.SCHEMA,
    make.SHARED,
    *make.PICTURES,
    *(f"docs/{name}.md" for name in MADE_PAGES),
]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def fences(name: str, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text_of(name)) if kind == language]


@functools.cache
def made() -> dict[str, str]:
    return make.pages()


@pytest.fixture
def demo_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where the demo's sessions are the user's own, and an empty folder to work in."""
    write_demo(home / ".claude")
    monkeypatch.chdir(tmp_path)
    return home


# --- made from the program --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MADE)
def test_generated_files_are_current(name: str) -> None:
    """What is made from the program is as the program would make it now; if not, run scripts/docs."""
    assert text_of(name) == made()[name], "out of date: run scripts/docs"


def test_every_generated_file_is_tested() -> None:
    """The list above names all of them."""
    assert sorted(made()) == sorted(MADE)


@pytest.mark.parametrize("name", make.PICTURES)
def test_pictures_need_nothing_else(name: str) -> None:
    """A picture is an image of its own: no font, style, script or image from elsewhere, and text to find in it."""
    text = text_of(name)
    root = ET.fromstring(text)  # noqa: S314  our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert re.findall(r"\w+://[^\"\s]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@font-face|@import|<script|<image|href|url\((?!#)", text)
    assert "unspool" in "".join(root.itertext())


# --- commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, _ in COMMANDS])
def test_every_command_is_documented(name: str) -> None:
    """Each command has help, help for each of its options, and its part in docs/cli.md."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    assert [one.name for one in command.params if isinstance(one, click.Option) and not one.help] == []
    assert f"\n## unspool {name}\n" in text_of("docs/cli.md")


def test_the_list_of_commands_says_what_they_say() -> None:
    """The line of a command in the list is the first line of its help."""
    first = {name: (cli.get_command(click.Context(cli), name) or cli).help or "" for name, _ in COMMANDS}
    assert {name: words.splitlines()[0] for name, words in first.items()} == dict(COMMANDS)


KEPT = ("search", "usage", "stats", "doctor", "verify", "restore")
"""Commands that work on what was kept before."""
ASKS = 2
"""What a command ends with that asks first, where nobody is there to answer."""


def command_lines(name: str) -> list[list[str]]:
    """The arguments of each call of unspool in a page, without comments."""
    lines = [line for body in fences(name, "sh") for line in body.splitlines() if line.strip()]
    split = [shlex.split(line, comments=True) for line in lines]
    called = [parts[parts.index("unspool") + 1 :] for parts in split if "unspool" in parts]
    once = [list(arguments) for arguments in dict.fromkeys(map(tuple, called))]
    return [arguments for arguments in once if arguments[:1] != ["open"]]  # it serves until it is stopped


def for_a_team(arguments: list[str]) -> bool:
    """Whether a call is of a hub, or to one."""
    return arguments[:1] in (["hub"], ["login"], ["push"]) or "--hub" in arguments


@pytest.mark.usefixtures("demo_home")
@pytest.mark.parametrize(
    "arguments",
    [one for one in command_lines("README.md") if not for_a_team(one)],
    ids=lambda parts: " ".join(parts) or "unspool",
)
def test_commands_of_the_readme_work(arguments: list[str]) -> None:
    """Each command of the README does something when it is typed as it stands there."""
    if arguments[:1] and arguments[0] in KEPT:
        assert run("sync").code == 0
    if arguments[:1] == ["import"]:
        Path(arguments[1]).write_bytes(bundle())
    done = run(*arguments)
    asks = "--install" in arguments or arguments[:1] == ["share"]
    assert done.code == (ASKS if asks else 0), done.err
    assert done.out or done.err


@pytest.mark.usefixtures("demo_home")
def test_commands_of_the_readme_for_a_team_work(tmp_path: Path) -> None:
    """A hub as the README starts it, and each command that goes to it, typed one after the other."""
    calls = [one for one in command_lines("README.md") if for_a_team(one)]
    assert [one[0] for one in calls] == ["hub", "login", "share", "push"]
    with started(tmp_path / "hub") as hub:
        (tmp_path / "token").write_text(hub.token)
        login = [hub.client.address if one.startswith("http") else one for one in calls[1]]
        assert run(*login, "--token-file", str(tmp_path / "token")).code == 0
        shared = run(*calls[2], "--yes")
        assert shared.code == 0, shared.err
        assert hub.client.get(f"/{shared.out.split()[-1].rpartition('/')[2]}/").status == 200
        pushed = run(*calls[3], "--yes")
        assert pushed.code == 0, pushed.err
        assert hub.client.get("/api/archive").json["sessions"]


def test_scripts_of_the_readme_exist() -> None:
    """Each script that the README names is there and can be run."""
    named = set(re.findall(r"\bscripts/\w+", text_of("README.md")))
    assert {"scripts/run", "scripts/test"} <= named
    assert [name for name in named if not os.access(ROOT / name, os.X_OK)] == []


ERRORS = [one for one in errors.UnspoolError.__subclasses__() if one.__module__ == errors.__name__]


@pytest.mark.parametrize("error", [errors.UnspoolError, *ERRORS], ids=lambda e: e.__name__)
def test_every_error_is_documented(error: type[errors.UnspoolError]) -> None:
    """Each class of errors stands with its exit code in docs/cli.md and in the tree that errors.py draws."""
    assert re.search(rf"^\| {error.exit_code} \| `{error.__name__}` \| \S", text_of("docs/cli.md"), re.M)
    assert re.search(rf"\b{error.__name__} +{error.exit_code}  ", errors.__doc__ or "")


# --- Python -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("demo_home")
@pytest.mark.parametrize("name", [name_of(path) for path in PAGES if "```python" in path.read_text("utf-8")])
def test_examples_run(name: str) -> None:
    """The Python of a page, run from top to bottom on the demo, prints what the page says."""
    code = "\n".join(fences(name, "python"))
    test = doctest.DocTestParser().get_doctest(code, {}, name, name, 0)
    said: list[str] = []
    done = doctest.DocTestRunner().run(test, out=said.append)
    assert done.attempted > 0, "there are no examples with >>>"
    assert done.failed == 0, "".join(said)


@pytest.mark.parametrize("name", unspool.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    """The public names can be had, and stand in docs/api.md."""
    assert getattr(unspool, name)
    assert name.startswith("__") or re.search(rf"`{name}\b", text_of("docs/api.md"))


def test_the_json_page_names_every_field() -> None:
    """docs/json.md explains each field of the exported object, and its version."""
    text = text_of("docs/json.md")
    assert [name for name in Document.__struct_fields__ if f"| `{name}` |" not in text] == []
    assert SCHEMA in text


def test_every_tool_is_listed() -> None:
    """docs/tools.md has every name that has a renderer."""
    text = text_of("docs/tools.md")
    assert [name for tool in TOOLS for name in tool.NAMES if f"`{name}`" not in text] == []


# --- pages ------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """What a heading can be linked by."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path: Path) -> list[str]:
    text = FENCE.sub("", path.read_text("utf-8"))
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    """A link to another page, a file or a heading finds it."""
    broken = []
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        found = target.exists() and (not anchor or anchor in anchors(target.read_text("utf-8")))
        broken += [] if found else [link]
    assert broken == []


def test_every_page_is_linked() -> None:
    """Every page below docs/ can be reached from the README."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page.is_dir():
            waiting += page.glob("*.md")
        elif page.suffix == ".md" and page not in seen:
            seen.add(page)
            waiting += [page.parent / link.partition("#")[0] for link in links(page) if not link.startswith("#")]
    assert {name_of(path) for path in PAGES if path.is_relative_to(ROOT / "docs")} <= {name_of(path) for path in seen}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_name_no_machine(path: Path) -> None:
    """No page holds a path of somebody's machine, or the host of a package index."""
    assert not re.search(r"/(?:root|work|Users|tmp)/|pypi\.|npmjs\.", path.read_text("utf-8"))


def test_the_changelog_is_open() -> None:
    """The newest section is of this version or is Unreleased, and says something."""
    newest = re.split(r"^## ", text_of("CHANGELOG.md"), flags=re.MULTILINE)[1]
    assert newest.startswith(("Unreleased", "[Unreleased]", unspool.__version__, f"[{unspool.__version__}]"))
    assert re.search(r"^- \S", newest, re.MULTILINE)


def test_versions_agree() -> None:
    """The package and pyproject.toml have one version."""
    assert tomllib.loads(text_of("pyproject.toml"))["project"]["version"] == unspool.__version__


@pytest.mark.parametrize("name", ["docs/design.md", "CONTRIBUTING.md"])
def test_layers_are_drawn_as_they_are_checked(name: str) -> None:
    """The layers on the page are those that import-linter checks."""
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert "```\n" + "\n".join(layers) + "\n```" in text_of(name)


def test_the_layout_is_drawn() -> None:
    """docs/design.md names every part of the package, and no part that is not there."""
    package = ROOT / "src" / "unspool"
    parts = {path.name + "/" if path.is_dir() else path.name for path in package.iterdir()}
    parts -= {"__pycache__/", "__main__.py", "py.typed"}
    drawn = re.search(r"^src/unspool/\n((?:  .*\n)+)", text_of("docs/design.md"), re.MULTILINE)
    assert drawn is not None
    assert {line.split()[0] for line in drawn[1].splitlines()} == parts
