"""Renderers of other packages."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from tests.tools.calls import called
from unspool import tools
from unspool.model import ToolCall
from unspool.tools.nodes import CallDescription


def _guest(call: ToolCall) -> CallDescription:
    return CallDescription(f"guest of {call.name}", call.input["note"])


GUEST = SimpleNamespace(NAMES=("Guest", "guest_*"), describe=_guest)
RUDE = SimpleNamespace(NAMES=("Rude",), describe=lambda call: "no value of ours")
BROKEN = SimpleNamespace(NAMES="Broken", describe=None)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    tools.installed_renderers.cache_clear()
    yield
    tools.installed_renderers.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """Entry points that lead to objects of this file; the groups asked for are told."""
    asked: list[str] = []
    points = [EntryPoint(name.lower(), f"{__name__}:{name}", tools.GROUP) for name in names]

    def entry_points(group: str) -> list[EntryPoint]:
        asked.append(group)
        return points

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    return asked


def test_an_unknown_tool_is_shown_by_the_package_that_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "GUEST")
    for name in ("Guest", "guest_of_honour"):
        fold = tools.describe(called(name, {"note": "fine"}))
        assert (fold.summary, fold.outcome) == (f"guest of {name}", "fine")


def test_other_packages_are_asked_once_and_only_for_unknown_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = install(monkeypatch, "GUEST")
    tools.describe(called("Bash", {"command": "ls"}))
    assert asked == []
    tools.describe(called("Guest"))
    tools.describe(called("Nobody"))
    assert asked == ["unspool.tools"]


def test_a_guest_that_does_not_expect_a_call_leaves_it_to_the_plain_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "GUEST", "RUDE")
    assert tools.describe(called("Guest", {"title": "t"})).summary == "Guest t"
    assert tools.describe(called("Rude", {"title": "t"})).summary == "Rude t"


@pytest.mark.parametrize("name", ["BROKEN", "ABSENT"])
def test_a_guest_that_cannot_be_used_is_warned_of(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, name)
    with pytest.warns(UserWarning, match=f"the tool renderer {name.lower()} .* is left out"):
        assert tools.describe(called("Broken", {"title": "t"})).summary == "Broken t"
