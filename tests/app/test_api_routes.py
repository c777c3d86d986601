"""The API: what it answers, that it is what the commands answer, and that its description is true."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import urlopen

import jsonschema
import pytest

from tests.app.serving import served
from tests.cli.running import STORM, source, talk
from tests.cli.running import run as run_command
from unspool.app.api_endpoint import ApiEndpoint, Parameter
from unspool.app.api_routes import ENDPOINTS
from unspool.app.context import AppContext
from unspool.app.marks import MarkStore
from unspool.demo import write_demo
from unspool.render.json import load
from unspool.store.sync import sync

HOSTILE = "</script><script>alert(1)</script>\u2028\x1b[31m\"'&"


class Served:
    """The API of the demo, and of one hostile session."""

    def __init__(self, address: str, archive: Path) -> None:
        self.address, self.archive = address, archive

    def get(self, path: str, **values: object) -> Any:
        status, _, body = self.ask(f"{path}?{urlencode(values)}" if values else path)
        assert status == 200, body
        return json.loads(body)

    def ask(self, path: str) -> tuple[int, dict[str, str], bytes]:
        try:
            with urlopen(self.address + path) as answer:  # noqa: S310  our own
                return answer.status, dict(answer.headers), answer.read()
        except HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read()

    def command(self, *arguments: str) -> Any:
        done = run_command(*arguments, "--json", "--archive", str(self.archive))
        assert done.code == 0, done.err
        return json.loads(done.out)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("api")
    agent, archive = write_demo(place / "agent"), place / "archive"
    other = Path(source(place / "other", talk(HOSTILE, "66666666-0000-4000-8000-000000000006"))[1])
    sync(archive, (agent, other))
    with served(AppContext(archive, (agent, other))) as address:
        yield Served(address, archive)


@pytest.fixture(scope="module")
def description(api: Served) -> Any:
    return api.get("/api/openapi.json")


# --- sessions ----------------------------------------------------------------------------------------


def test_sessions_come_in_pages_the_last_active_first(api: Served) -> None:
    whole = api.get("/api/sessions")
    assert whole["total"] == len(whole["sessions"])
    assert whole["next"] is None
    ended = [one["ended"] or one["started"] or "" for one in whole["sessions"]]
    assert ended == sorted(ended, reverse=True)
    paged: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        page = api.get("/api/sessions", limit=3, offset=offset)
        paged += page["sessions"]
        offset = page["next"]
    assert paged == whole["sessions"]


def test_sessions_can_be_asked_for(api: Served) -> None:
    """By project, title, branch, kind and time; what does not fit is left out, and nothing else."""
    every = api.get("/api/sessions")["sessions"]
    for name, part in (("project", 3), ("title", 4)):
        text = every[0][name][:part] if len(every[0][name]) > part else every[0][name]
        found = api.get("/api/sessions", **{name: text})["sessions"]
        assert found == [one for one in every if text.casefold() in one[name].casefold()]
    for name in ("branch", "kind"):
        for value in {one[name] for one in every}:
            found = api.get("/api/sessions", **{name: value})["sessions"]
            assert found == [one for one in every if one[name] == value]
    day = every[len(every) // 2]["started"][:10]
    found = api.get("/api/sessions", since=day, until=day)["sessions"]
    assert found
    assert len(found) < len(every)
    assert all(one["started"][:10] <= day <= one["ended"][:10] for one in found)


def test_signs_of_patterns_are_themselves(api: Served) -> None:
    assert api.get("/api/sessions", title="%")["total"] == api.get("/api/sessions", title="_")["total"] == 0


def test_a_session_that_two_sources_hold_is_listed_once(tmp_path: Path) -> None:
    for name, more in (("old", ""), ("new", "and more")):
        log = talk("Waves", "11111111-0000-4000-8000-000000000001")
        if more:
            log.prompt(more)
        log.write(tmp_path / name)
    sources = (tmp_path / "old", tmp_path / "new")
    sync(tmp_path / "archive", sources)
    with served(AppContext(tmp_path / "archive", sources)) as address:
        found = Served(address, tmp_path / "archive").get("/api/sessions")
    assert (found["total"], [one["turns"] for one in found["sessions"]]) == (1, [2])


def test_one_session(api: Served) -> None:
    one = api.get(f"/api/sessions/{STORM}")
    assert one["session"] in api.get("/api/sessions")["sessions"]
    assert one["overview"]["id"] == STORM
    assert sum(tool["calls"] for tool in one["tools"]) == 15, "those of subagents included"
    assert one["files"]
    assert one["address"] == f"/s/{STORM}/"


def test_one_session_whole_can_be_read_back(api: Served) -> None:
    _, headers, body = api.ask(f"/api/sessions/{STORM}/document")
    assert headers["content-type"] == "application/json"
    assert load(body).id == STORM


@pytest.mark.parametrize("path", ["/api/sessions/nobody", "/api/sessions/nobody/document", "/api/nothing"])
def test_what_is_not_there_is_said_not_to_be(api: Served, path: str) -> None:
    status, headers, body = api.ask(path)
    assert (status, headers["content-type"]) == (404, "application/json")
    assert json.loads(body)["status"] == 404


# --- search and figures ------------------------------------------------------------------------------


def test_a_search_finds_what_the_command_finds(api: Served) -> None:
    told = api.get("/api/search", q="storm", limit=5, hits=2, context=100)
    said = api.command("search", "storm", "-n", "5", "--hits", "2", "--context", "100")
    for session in (*told["sessions"], *said["sessions"]):
        assert session.pop("score") > 0  # falls from second to second
    assert told == said
    assert told["sessions"]


def test_usage_adds_up_to_what_the_command_says(api: Served) -> None:
    for by in ("day", "week", "month", "session", "project", "model", "subagent"):
        told, said = api.get("/api/usage", by=by, tz="UTC"), api.command("usage", "--by", by, "--tz", "UTC")
        assert told["total"]["cost"] == said["total"]["cost"]
        assert told["total"]["tokens"] == said["total"]["tokens"]
        assert len(told["rows"]) == len(said["rows"])
        assert {row["key"] for row in told["rows"]} == {row[by] or "" for row in said["rows"]}


def test_usage_of_some_time(api: Served) -> None:
    days = [row["key"] for row in api.get("/api/usage", tz="UTC")["rows"] if row["key"]]
    told = api.get("/api/usage", since=days[0], until=days[0], tz="UTC")
    assert [row["key"] for row in told["rows"]] == days[:1]


def test_statistics_are_those_of_the_command(api: Served) -> None:
    told, said = api.get("/api/stats", tz="UTC"), api.command("stats", "--tz", "UTC")
    assert told["totals"] == said["totals"]
    assert told["hours"] == said["hours"]
    assert told["usage"]["cost"] == said["usage"]["cost"]
    assert [one["key"] for one in told["dearest"]] == [one["key"] for one in said["dearest"]]


def test_the_state_without_a_sync_is_idle(api: Served) -> None:
    state = api.get("/api/state")
    assert (state["state"], state["read_only"], state["report"]) == ("idle", True, None)


# --- what is asked wrongly ---------------------------------------------------------------------------

WRONG = [
    "/api/sessions?limit=0",
    "/api/sessions?limit=501",
    "/api/sessions?limit=-1",
    "/api/sessions?limit=1e9",
    "/api/sessions?limit=" + quote("٣"),
    "/api/sessions?limit=1&limit=2",
    "/api/sessions?offset=" + "9" * 30,
    "/api/sessions?since=never",
    "/api/sessions?since=99999y",
    "/api/usage?by=moon",
    "/api/usage?tz=../../etc/passwd",
    "/api/usage?tz=Nowhere",
    "/api/search",
    "/api/search?q=",
    "/api/search?q=%20%20",
    "/api/search?q=role:nobody",
    "/api/search?q=" + "x" * 2001,
    "/api/search?q=x&context=5",
]


@pytest.mark.parametrize("path", WRONG)
def test_what_means_nothing_is_said_in_a_sentence(api: Served, path: str) -> None:
    status, headers, body = api.ask(path)
    assert (status, headers["content-type"]) == (400, "application/json")
    assert json.loads(body)["reason"].endswith(".")


def test_hostile_text_is_data(api: Served) -> None:
    """It comes back as it was, inside a string of JSON, and is nowhere markup to a browser."""
    _, headers, body = api.ask("/api/sessions?title=" + quote("alert(1)"))
    (found,) = json.loads(body)["sessions"]
    assert "<script>alert(1)</script>" in found["title"]
    assert headers["content-type"] == "application/json"
    assert b"\x1b" not in body


# --- the description ---------------------------------------------------------------------------------


def test_every_address_is_described(description: Any) -> None:
    assert set(description["paths"]) == {one.path for one in ENDPOINTS}
    assert description["openapi"].startswith("3.1.")


def test_every_reference_leads_somewhere(description: Any) -> None:
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            yield from (value for name, value in part.items() if name == "$ref")
            for inner in part.values():
                yield from references(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from references(inner)

    known = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert set(references(description)) <= known
    assert all(name.isalpha() for name in description["components"]["schemas"]), "no name stands for two things"


ASKED = {"q": "storm", "key": STORM}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.path)
def test_answers_are_as_described(api: Served, description: Any, endpoint: ApiEndpoint) -> None:
    """Each answer fits the schema that the description gives for it."""
    path = endpoint.path.format(**ASKED)
    query = {one.name: ASKED[one.name] for one in endpoint.parameters if one.name == "q"}
    told = api.get(path, **query)
    shown = description["paths"][endpoint.path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**shown, "components": description["components"]}).validate(told)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.path)
def test_every_parameter_has_an_effect_or_is_refused(api: Served, endpoint: ApiEndpoint) -> None:
    """A parameter that is declared is read: a value that is far too long is never overlooked."""
    for one in endpoint.parameters:
        values = {**ASKED, one.name: "x" * 2001}
        path = endpoint.path.format(**values)
        query = {other.name: values.get(other.name) for other in endpoint.parameters if other.name in (one.name, "q")}
        in_path = f"{{{one.name}}}" in endpoint.path
        assert api.ask(path if in_path else f"{path}?{urlencode(query)}")[0] == 400


def test_numbers_are_read_as_numbers() -> None:
    one = Parameter("n", "", int, 5, least=1, most=10)
    assert (one.read(None), one.read("10"), one.read("007")) == (5, 10, 7)


def test_what_was_said_about_a_session_is_told(tmp_path: Path) -> None:
    """Beside the session's own title, and asked for by star or tag."""
    first, second = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"
    agent = Path(source(tmp_path / "agent", talk("Waves", first), talk("Sand", second))[1])
    sync(tmp_path / "archive", (agent,))
    MarkStore(tmp_path / "archive").change(first, starred=True, title="Moon", note="Again", tags=["sea"])
    with served(AppContext(tmp_path / "archive", (agent,))) as address:
        api = Served(address, tmp_path / "archive")
        said = {"starred": True, "title": "Moon", "note": "Again", "tags": ["sea"]}
        told = {one["key"]: one for one in api.get("/api/sessions")["sessions"]}
        assert (told[first]["title"], told[first]["mark"], told[second]["mark"]) == ("Waves", said, None)
        assert api.get(f"/api/sessions/{first}")["session"]["mark"] == said
        for asked in ({"starred": "1"}, {"tag": "SEA"}):
            assert [one["key"] for one in api.get("/api/sessions", **asked)["sessions"]] == [first], asked
        assert api.get("/api/sessions", tag="land")["total"] == 0
