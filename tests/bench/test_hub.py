"""The bench of a hub adds up, draws and counts what it should."""

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.hub_bearing import together, turned
from bench.hub_cost import costs
from bench.hub_running import failures
from bench.hub_sending import Sending
from bench.hub_world import World, words
from bench.load import Load
from bench.plot import Panel, panels
from tests.hub.sessions.team import Machine, team
from tests.hub.shares.bundles import GZIP, bundle, log
from tests.log_builder.builder import LogBuilder
from unspool.hub.monitoring import Metrics
from unspool.hub.store.connect import StorePlace, open_store


def test_two_processes_bear_the_sum_and_are_as_slow_as_the_slower() -> None:
    both = together([Load(100.0, 5.0, 20.0), Load(50.0, 6.0, 10.0)])
    assert both == Load(150.0, 6.0, 20.0)


def test_one_that_fails_fails_both() -> None:
    assert together([Load(100.0, 5.0, 20.0), Load(failed="3 of 9 requests failed")]).failed == "3 of 9 requests failed"


def test_everybody_asks_for_all_paths_from_another_one_on() -> None:
    assert turned(["a", "b", "c", "d"], 0.5) == ["c", "d", "a", "b"]
    assert turned(["a"], 0.5) == ["a"]


def test_answers_of_5xx_are_found_in_what_a_hub_tells(tmp_path: Path) -> None:
    metrics = Metrics()
    for way, status in (("/", 200), ("/", 503), ("/sessions", 500), ("/sessions", 404), ("/{address}", 503)):
        metrics.begun()
        metrics.ended(way, "GET", status, 0.01, (0, 0))
    store = open_store(StorePlace(tmp_path))
    assert failures(metrics.text(store)) == 3
    store.db.close()


def test_a_hub_that_tells_nothing_is_no_hub_without_failures() -> None:
    with pytest.raises(RuntimeError):
        failures("")


def test_searches_are_many_and_always_the_same() -> None:
    assert words() == words()
    assert len(set(words())) > 30


def test_a_mixed_load_asks_for_everything_mostly_for_pages() -> None:
    nothing = Sending(0, 0, 0.0, 0.0, 0.0)
    world = World("token", ["s1", "s2"], ["a1", "a2"], nothing, nothing)
    asked = world.mixed()
    assert {path.split("?")[0] for path in asked} == {
        "/a1/", "/a2/", "/sessions/s1/", "/sessions/s2/", "/sessions", "/api/archive", "/api/search",
    }  # fmt: skip
    assert sum(path.endswith("/") for path in asked) == 0.7 * len(asked)


def test_a_picture_has_every_figure_beside_its_count() -> None:
    rng = random.Random(1)
    points = [(count, rng.uniform(1, 900)) for count in (100, 1_000, 10_000)]
    root = ElementTree.fromstring(panels("Answers", [Panel("Lists a second", points), Panel("Searches", points)]))  # noqa: S314
    said = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert said.count("10,000") == said.count("100") == 2
    assert said.count("- - as with 100") == 2
    assert all(f"{value:.0f}" in said or f"{value:.1f}" in said for _, value in points)


def test_what_is_looked_at_costs_a_few_statements_and_one_request_to_the_object_store(tmp_path: Path) -> None:
    """Viewing renders nothing and asks for little, whoever looks: that is what a hub of many is reckoned by."""
    store = open_store(StorePlace(tmp_path / "hub"))
    with team(store) as there:
        ada = there.member("ada")
        shared = ada.client.ask("POST", "/api/shares", bundle(log()), GZIP).json["address"]
        machine = Machine(ada, tmp_path / "machine")
        one = LogBuilder(session_id="0b5e7a11-5e55-4a1e-9a7e-000000000002", cwd="/srv/tidewater")
        one.prompt("Make a tide table").assistant(one.text("Gladly.")).write(machine.source)
        assert [done.outcome for done in machine.push()] == ["pushed"]
        session = store.db.rows("SELECT id FROM session")[0][0]
    paths = {"share": [f"/{shared}/"] * 3, "session": [f"/sessions/{session}/"] * 3, "list": ["/api/archive"] * 3}
    found = costs(store, ada.token, paths)
    store.db.close()
    assert {name: objects for name, (_, objects) in found.items()} == {"share": 1, "session": 1, "list": 0}
    assert all(statements <= 6 for statements, _ in found.values()), found
