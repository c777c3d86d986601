"""A tool is added by one file and two lines: done here, in a copy of the package, with a tool that nobody has."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unspool
from tests.log_builder.builder import LogBuilder

PACKAGE = Path(unspool.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[2]
RENDERER = '''"""Watching the tide at a port."""

from unspool.doc import Table
from unspool.model import ToolCall
from unspool.tools import nodes
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("Tidewatch",)


def describe(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    tides = [ToolFields.maybe(one) for one in detail.items("tides")]
    rows = tuple((one.text("at"), str(one.number("metres"))) for one in tides)
    shown = (Table(("Time", "Height in metres"), rows),) if rows else ()
    answer = nodes.printed_nodes(nodes.result_text(call))
    port = given.need("port")
    return CallDescription(f"Watched the tide at {port}", f"{len(rows)} tides", (*given.rest(), *shown, *answer))
'''
ASKED = {"port": "Port Ness", "days": 2}
ANSWER = {"tides": [{"at": "04:12", "metres": 4.2}, {"at": "10:31", "metres": 0.7}]}
PLUGIN = f'''"""The example that comes with the tool."""

from tests.tools.examples import EXAMPLES

EXAMPLES["Tidewatch"] = ({ASKED!r}, "two tides", {ANSWER!r})
'''


def copied(folder: Path) -> Path:
    """The package, its folder of tools for itself; all else are links."""
    package = folder / "unspool"
    (package / "tools").mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if path.name not in ("tools", "__pycache__"):
            (package / path.name).symlink_to(path)
    for path in (PACKAGE / "tools").glob("*.py"):
        (package / "tools" / path.name).write_bytes(path.read_bytes())
    return package


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a package with one more tool is: one file, and two lines."""
    folder = tmp_path_factory.mktemp("added")
    package = copied(folder)
    (package / "tools" / "tidewatch.py").write_text(RENDERER)
    listed = package / "tools" / "__init__.py"
    before = listed.read_text()
    listed.write_text(before.replace("    todos,\n", "    tidewatch,\n    todos,\n"))
    assert len(listed.read_text().splitlines()) == len(before.splitlines()) + 2
    (folder / "tidewatch_example.py").write_text(PLUGIN)
    return folder


def run(folder: Path, *arguments: str | Path) -> str:
    """What Python says with the package of this folder first."""
    path = os.pathsep.join([str(folder), str(REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A session in which the tool was called."""
    builder = LogBuilder().prompt("When is high water?")
    return builder.call("Tidewatch", ASKED, "two tides", ANSWER).assistant(builder.text("At four.")).write(tmp_path)


def test_every_check_of_the_contract_holds_for_it(added: Path) -> None:
    chosen = "tidewatch or two_renderers or is_listed"
    contract = REPOSITORY / "tests" / "tools" / "test_contract.py"
    said = run(added, "-m", "pytest", "-q", "-p", "tidewatch_example", "-p", "no:cacheprovider", "-k", chosen, contract)
    passed = re.search(r"(\d+) passed", said)
    assert passed
    assert int(passed[1]) >= 9


def test_its_calls_are_shown_in_every_document(added: Path, log: Path, tmp_path: Path) -> None:
    """As its renderer says: in the terminal, in Markdown, in text and on pages."""
    run(added, "-m", "unspool", "json", log, "-o", tmp_path / "page")
    documents = {
        "show": run(added, "-m", "unspool", "show", log),
        "markdown": run(added, "-m", "unspool", "export", log, "-f", "markdown"),
        "text": run(added, "-m", "unspool", "export", log, "-f", "text"),
        "page": re.sub(r"<[^>]+>", "", (tmp_path / "page" / "page-001.html").read_text()),
    }
    for name, text in documents.items():
        for words in ("Watched the tide at Port Ness", "2 tides", "Height in metres", "04:12"):
            assert words in text, name
    data = json.loads(run(added, "-m", "unspool", "export", log, "-f", "json"))
    assert "Tidewatch" in json.dumps(data)


def test_without_the_two_lines_it_is_shown_by_its_fields(log: Path, tmp_path: Path) -> None:
    """So that the test above can fail."""
    copied(tmp_path / "plain")
    text = run(tmp_path / "plain", "-m", "unspool", "show", log)
    assert "Watched the tide" not in text
    assert "Port Ness" in text
