"""Many sessions for other programs: a file each, a table, a dataset with its card; what fails is told."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.render.exchange.given import demo
from tests.share.made import SECRETS
from tests.share.made import session as secretive
from unspool.agents import FoundLog
from unspool.errors import UsageProblem
from unspool.figures import figures
from unspool.prices import PriceTable
from unspool.redact.rules import builtin_rules
from unspool.render.exchange import EXCHANGE_FORMATS
from unspool.render.exchange.hf_traces import TraceCounts, check_licence, dataset_card
from unspool.render.exchange.inspect import write_parquet
from unspool.render.view import View
from unspool.render.writers import find_writer
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.exchange import ExportTarget, SessionExporter, export_many, file_name
from unspool.store.library import Library

PRICES = PriceTable.load()
WHOLE = View(agents=True, prices=PRICES)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, and a session that holds secrets."""
    folder = tmp_path_factory.mktemp("source")
    demo(folder)
    secretive().write(folder)
    return folder


def asked() -> ShareSettings:
    return ShareSettings(lambda _: ShareChoices(), builtin_rules(), environment={}, rehearsed=True)


def exporter(source: Path, name: str, ask: ShareSettings | None = None) -> SessionExporter:
    return SessionExporter(Library([source]), find_writer(name), WHOLE, ask, licence="cc-by-4.0")


@pytest.mark.parametrize("name", [one.name for one in EXCHANGE_FORMATS])
def test_every_format_exports_all_sessions_without_secrets(name: str, source: Path, tmp_path: Path) -> None:
    logs = Library([source]).logs()
    made: list[Path] = []
    summary = export_many(exporter(source, name, asked()), logs, ExportTarget(tmp_path / "out"), made.append)
    assert (summary.sessions, summary.failures) == (len(logs), [])
    assert summary.places >= len(SECRETS)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert set(made) <= set(files)
    assert summary.files == len(made)
    words = b"\0".join(path.read_bytes() for path in files).decode("utf-8", "replace")
    assert not [kind for kind, secret in SECRETS.items() if secret in words]
    assert not list((tmp_path / "out").rglob("*.part"))


class Open:
    """Counts how many sessions are open at once."""

    def __init__(self, inner: SessionExporter) -> None:
        self.now = self.most = 0
        ready = inner.ready

        def watched(names: Any, *, strict: bool = False) -> Iterator[Any]:
            for one in ready(names, strict=strict):
                self.now += 1
                self.most = max(self.most, self.now)
                yield one
                self.now -= 1

        inner.ready = watched  # type: ignore[method-assign]


def test_one_session_at_a_time_is_open(source: Path, tmp_path: Path) -> None:
    inner = exporter(source, "inspect", asked())
    watched = Open(inner)
    export_many(inner, Library([source]).logs(), ExportTarget(tmp_path))
    assert watched.most == 1


def test_a_log_that_cannot_be_read_is_told_and_the_rest_goes_on(source: Path, tmp_path: Path) -> None:
    gone = FoundLog(str(tmp_path / "gone.jsonl"), "gone", "claude-code", 0, 0.0)
    logs = [gone, *Library([source]).logs()]
    summary = export_many(exporter(source, "atif", asked()), logs, ExportTarget(tmp_path / "out"))
    assert summary.sessions == len(logs) - 1
    (failure,) = summary.failures
    assert failure.startswith("gone: ")


@pytest.fixture(scope="module")
def dataset(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    export_many(exporter(source, "hf", asked()), spoken(source), ExportTarget(folder))
    return folder


def spoken(source: Path) -> list[FoundLog]:
    """Logs in which something was said."""
    known = {one.id: one for one in Library([source]).overviews()}
    return [log for log in Library([source]).logs() if known[log.session_id].turns]


class TestHub:
    """A dataset of traces."""

    def harness(self, path: Path) -> str:
        """What the Hub and `datasets` take a file for: by the columns of its lines, then by its first known type."""
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        types = [line["type"] for line in lines]
        if all("payload" in line for line in lines):
            known = {"session_meta", "turn_context", "response_item", "event_msg"}
            return "codex" if next((one for one in types if one in known), "") else ""
        first = next((one for one in types if one in ("user", "assistant", "system", "session", "message")), "")
        return "pi" if first in ("session", "message") else "claude_code" if first else ""

    def test_logs_that_the_hub_knows_go_as_they_are_and_others_in_its_simple_format(self, dataset: Path) -> None:
        found = {path: self.harness(path) for path in sorted(dataset.glob("sessions/*/*.jsonl"))}
        by_agent = {(path.parent.name, kind) for path, kind in found.items()}
        assert by_agent == {("claude-code", "claude_code"), ("codex", "codex"), ("opencode", "pi")}
        (simple,) = [path for path in found if path.parent.name == "opencode"]
        head, *messages = [json.loads(line) for line in simple.read_text().splitlines()]
        assert head["type"] == "session"
        assert head["harness"] == "opencode"
        assert {line["message"]["role"] for line in messages} <= {"user", "assistant", "system", "tool"}
        calls = [call for line in messages for call in line["message"].get("toolCalls", ())]
        assert calls
        assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)

    def test_subagents_lie_in_the_folder_of_their_session(self, dataset: Path) -> None:
        assert list(dataset.glob("sessions/claude-code/*/subagents/*.jsonl"))

    def test_a_trace_reads_as_the_session_it_was(self, dataset: Path, source: Path) -> None:
        """The redacted log is still the agent's: tokens and cost are the same."""
        before = {one.id: one for one in Library([source]).overviews() if one.agent == "claude-code"}
        for path in dataset.glob("sessions/claude-code/*.jsonl"):
            counted = figures(Library([dataset]).open(path), PRICES)
            assert counted.usage.output <= before[path.stem].usage.output
            assert counted.tool_calls == before[path.stem].tool_calls

    def test_the_card_tells_what_is_in_it_and_what_was_replaced(self, dataset: Path, source: Path) -> None:
        card = (dataset / "README.md").read_text()
        head = card.split("---")[1]
        assert "license: cc-by-4.0" in head
        assert "agent-traces" in head
        assert f"| sessions | {len(spoken(source))} |" in card
        assert builtin_rules().version in card
        assert "best effort" in card
        assert "| secret | github-token | " in card or "github" in card

    def test_a_card_without_redaction_says_so(self) -> None:
        assert "**Nothing was redacted.**" in dataset_card(TraceCounts(), "other", "x")

    def test_names_from_logs_cannot_leave_their_places(self) -> None:
        counts = TraceCounts(1, models=Counter({"evil`|\n---\nlicense: mit": 1}))
        card = dataset_card(counts, "other", 'a"\n---\nlicense: mit')
        assert [line for line in card.splitlines() if line.startswith(("license", "---"))] == [
            "---", "license: other", "---",
        ]  # fmt: skip
        assert "`evil__" in card

    @pytest.mark.parametrize("name", ["MIT\nx: y", "", "cc by", "x" * 99])
    def test_a_licence_is_a_name(self, name: str) -> None:
        with pytest.raises(UsageProblem):
            check_licence(name)


def test_the_table_has_scouts_columns_and_adds_up_to_the_sessions(source: Path, tmp_path: Path) -> None:
    library = Library([source])
    inner = exporter(source, "inspect", asked())
    rows = [row for one in inner.ready(library.logs()) for row in lines_of(one.session)]
    assert len({row["transcript_id"] for row in rows}) == len(rows)
    for log in library.logs():
        one = library.open(log)
        counted, own = figures(one, PRICES), [row for row in rows if row["source_id"] == one.id]
        assert sum(row["total_tokens"] or 0 for row in own) == (counted.usage + counted.agents_usage).total
        assert sum(row["total_cost_usd"] or 0 for row in own) == pytest.approx(float(counted.cost.amount))
        messages = json.loads(own[0]["messages"])
        assert own[0]["message_count"] == len(messages)
        answered = {message["tool_call_id"] for message in messages if message["role"] == "tool"}
        assert answered == {call["id"] for message in messages for call in message.get("tool_calls", ())}


def test_parquet_has_the_same_rows(source: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow")
    rows = [row for one in exporter(source, "inspect").ready(Library([source]).logs()) for row in lines_of(one.session)]
    write_parquet(iter(rows), tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    assert table.to_pylist() == rows
    assert str(table.schema.field("messages").type) == "large_string"


def lines_of(session: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(find_writer("inspect").chunks(session, WHOLE)).splitlines()]


@pytest.mark.parametrize(
    "identity", ["../../escape", "..", "/etc/passwd", "a/b", "a_b", "x\x1b[2J", "." * 300, "", "-o"]
)
def test_a_hostile_id_is_a_name_in_the_folder(identity: str, tmp_path: Path) -> None:
    name = file_name(identity, ".json")
    assert (tmp_path / name).parent == tmp_path
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()
    assert len(name) < 130
    assert name.isprintable()


def test_two_sessions_have_two_files() -> None:
    assert len({file_name(one, "") for one in ("a/b", "a_b", "a:b", "A_b")}) == 4
    assert file_name("57024000-0e55-4d0c-8e55-000000000005", ".json") == "57024000-0e55-4d0c-8e55-000000000005.json"


def test_sessions_of_one_id_of_two_agents_lie_apart(tmp_path: Path) -> None:
    log = LogBuilder(session_id="0a11ce00-0000-4000-8000-000000000001").prompt("Hello")
    log.assistant(log.text("Aye.")).write(tmp_path / "in")
    export_many(
        exporter(tmp_path / "in", "messages"), Library([tmp_path / "in"]).logs(), ExportTarget(tmp_path / "out")
    )
    (path,) = (tmp_path / "out").rglob("*.jsonl")
    assert path.parent.name == "claude-code"
