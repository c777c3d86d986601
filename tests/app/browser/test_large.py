"""A session of very many messages: its first turns are there at once, scrolling through it takes no more room."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.app.browser.windows import window
from tests.app.serving import served
from tests.app.sessions import get
from tests.log_builder.builder import LogBuilder
from tests.site.search.chromium import until
from tests.thorough import tries
from unspool.app.context import AppContext
from unspool.app.open_session import SessionCache
from unspool.cli.group import cli

TURNS, CALLS = tries(800, 2_500), 9

_WINDOWS = "document.querySelectorAll('main > .window').length"


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("large")
    log = LogBuilder()
    for number in range(1, TURNS + 1):
        log.prompt(f"Question {number}")
        for call in range(CALLS):
            log.ran(f"grep tide{number}.{call}", "a line\n" * 4)
        log.assistant(log.think("Hm"), log.text(f"Answer {number}. " + "Words. " * 40))
    log.write(root)
    made = CliRunner().invoke(cli, ["sync", "--archive", str(root / "kept"), "-s", str(root / "projects")])
    assert made.exit_code == 0, made.output
    return root, log.session_id


@pytest.fixture(scope="module")
def app(synced: tuple[Path, str]) -> Iterator[tuple[str, AppContext]]:
    """A server that has read nothing before the first test asks for something."""
    root, key = synced
    context = AppContext(root / "kept", [root / "projects"])
    with served(context) as address:
        yield f"{address}/s/{key}/", context


def test_its_first_turns_are_there_long_before_it_is_read(
    app: tuple[str, AppContext], synced: tuple[Path, str]
) -> None:
    base, context = app
    got = get(f"{base}page-001.html")
    assert "Question 5" in got.text
    assert "data-part" in got.text
    found = context.found(synced[1])
    assert context.part(SessionCache).ready(found) is None, "it was waited for"
    get(f"{base}ready")
    assert context.part(SessionCache).ready(found) is not None


def test_scrolling_through_it_holds_no_more_than_a_few_windows(browser: Any, app: tuple[str, AppContext]) -> None:
    base, _ = app
    with window(browser, base.partition("/s/")[0]) as page:
        get(f"{base}ready")
        page.goto(f"{base}page-001.html")
        counts = []
        for _ in range(14):
            shown = page.evaluate(_WINDOWS)
            page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            until(page, f"{_WINDOWS} > {shown}")
            counts.append(page.evaluate("document.querySelectorAll('main *').length"))
        assert page.evaluate(_WINDOWS) > 12
        assert page.evaluate("document.querySelectorAll('main .turn').length") <= 45
        assert max(counts) < 3 * sorted(counts)[len(counts) // 2]
        page.goto(f"{base}page-001.html#turn-{TURNS}")
        page.wait_for_url(f"**/page-{TURNS // 5:03}.html#turn-{TURNS}")
        assert page.locator(f"#turn-{TURNS} .prompt").is_visible()
