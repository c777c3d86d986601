"""A page as it is heard and as it is printed: landmarks, headings in order, rows by name, and paper without buttons."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.site.browser.making import made
from tests.site.browser.tabs import tab
from tests.site.search.chromium import until

ANSWER = "# Done\n\nSee [the page](https://example.org/).\n\n## Next"
TALL = {"width": 1280, "height": 4000}
COMMAND = "printf '%s' " + " ".join(f"word-{number}" for number in range(40))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two prompts; a command that failed, a file that was read, a command that was refused, an answer with headings."""
    folder = tmp_path_factory.mktemp("heard")
    log = LogBuilder()
    failed, fine = log.use("Bash", command="pytest -q"), log.use("Bash", command=COMMAND)
    log.prompt("Run the tests").assistant(failed).result(failed, "Exit code 2\nboom", error=True)
    log.assistant(fine).result(fine, "ok").assistant(log.text(ANSWER))
    refused = log.use("Bash", command="rm -r build")
    log.prompt("Clean up").assistant(refused).rejected(refused, "not now").assistant(log.text("As you wish."))
    return made(folder / "heard.html", "json", str(log.write(folder)))


def laid_out(selector: str, first: int = 1_000_000) -> str:
    """An expression: whether what a selector finds is laid out, or so many of it."""
    return f"""(() => {{
      const parts = Array.from(document.querySelectorAll("{selector}")).slice(0, {first});
      return parts.length > 0 && parts.every((one) => one.checkVisibility({{ contentVisibilityAuto: true }}));
    }})()"""


def heard(page: Any) -> list[tuple[str, str, int]]:
    """Role, name and level of everything that a screen reader is told of, in order."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    by_id, found = {node["nodeId"]: node for node in nodes}, []
    waiting = [nodes[0]["nodeId"]]
    while waiting:
        node = by_id[waiting.pop()]
        waiting.extend(one for one in reversed(node.get("childIds", [])) if one in by_id)
        if not node.get("ignored"):
            level = next((one["value"]["value"] for one in node.get("properties", []) if one["name"] == "level"), 0)
            found.append((node["role"]["value"], str(node.get("name", {}).get("value", "")), level))
    return found


@contextmanager
def whole(browser: Any, page_file: Path) -> Iterator[Any]:
    """A page in a window as tall as it is, once all turns are laid out: what is not, the browser does not tell of."""
    with tab(browser, viewport=TALL) as watched:
        page = watched.open(page_file)
        until(page, laid_out(".turn > *"))
        yield page


def test_headings_lead_through_a_session_in_order(browser: Any, page_file: Path) -> None:
    """The session first, then every prompt; what an answer has of its own stands below its prompt."""
    with whole(browser, page_file) as page:
        headings = [(level, name) for role, name, level in heard(page) if role == "heading"]
    assert headings[0][0] == 1
    assert [level for level, _ in headings].count(1) == 1
    assert all(later <= earlier + 1 for (earlier, _), (later, _) in pairwise(headings)), headings
    turns = headings[[name.casefold() for _, name in headings].index("conversation") + 1 :]
    assert turns == [(2, "You prompt 1"), (3, "Done"), (4, "Next"), (2, "You prompt 2")]


def test_a_page_has_its_landmarks(browser: Any, storm: Path) -> None:
    with tab(browser, viewport=TALL) as watched:
        page = watched.open(storm / "page-001.html")
        until(page, laid_out(".turn h2", 3))
        told = heard(page)
    roles = [role for role, _, _ in told]
    assert [roles.count(role) for role in ("banner", "main", "contentinfo")] == [1, 1, 1]
    assert {"Where you are", "Prompts", "Pages"} <= {name for role, name, _ in told if role == "navigation"}
    headings = [(level, name) for role, name, level in told if role == "heading"]
    assert headings[0] == (1, "Add the storm surge to predictions")
    assert [name for level, name in headings if level == 2][:3] == [
        "Before the first prompt",
        "You prompt 1",
        "You prompt 2",
    ]


def test_rows_say_what_they_are_and_how_they_ended(browser: Any, page_file: Path) -> None:
    """In words, since colours are not heard; and without the mark that they open."""
    with whole(browser, page_file) as page:
        rows = [name for role, name, _ in heard(page) if role == "DisclosureTriangle"]
    calls = [name for name in rows if name.startswith("Bash")]
    assert [
        bool(re.search(ends, name)) for ends, name in zip(("exit 2", "1 line", "rejected"), calls, strict=True)
    ] == [
        True,
        True,
        True,
    ], calls
    assert not any("\u203a" in name for name in rows)


def test_paper_has_the_session_whole_and_nothing_to_press(browser: Any, page_file: Path) -> None:
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: it reads PDFs back")
    with tab(browser) as watched:
        page = watched.open(page_file)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        printed = page.pdf(format="A4")
        page.emulate_media(media="print")
        pressed = "Array.from(document.querySelectorAll('button, .button, nav'))"
        buttons = page.evaluate(f"{pressed}.filter((one) => one.checkVisibility()).length")
        row = page.evaluate("Array.from(document.querySelectorAll('.call .what'), (one) => one.textContent)[1]")
        colour = page.evaluate("getComputedStyle(document.querySelector('.prose a')).color")
    text = "".join("".join(sheet.extract_text().split()) for sheet in pypdf.PdfReader(io.BytesIO(printed)).pages)
    assert buttons == 0
    assert colour == "rgb(31, 89, 181)"
    assert "youprompt1" in text.lower()
    assert len(row) > 90
    assert "".join(row.split()) in text, "a row is not cut where the page ends"
    assert "boom" in text, "what is open on the page is open on paper"
