"""`unspool export` and the command for all sessions, for other programs: redacted unless asked otherwise."""

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.cli.running import NIGHTLY, STORM, run
from tests.share.made import SECRETS, SESSION
from tests.share.made import session as secretive
from unspool.cli.exchange_cmd import NAMES, export_command
from unspool.cli.options import demo_folder


@pytest.fixture
def source(tmp_path: Path) -> tuple[str, str]:
    secretive().write(tmp_path / "in")
    return "--source", str(tmp_path / "in")


def info(session: str, *given: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(run("info", session, "--json", *given).out)["figures"]
    return figures


def sent(usage: dict[str, int]) -> int:
    return sum(usage.get(name, 0) for name in ("input", "cache_read", "cache_write"))


@pytest.mark.parametrize("session", [STORM, NIGHTLY])
def test_tokens_and_cost_are_those_of_info_in_every_format(session: str) -> None:
    told = info(session, "--demo")
    both = [told["usage"], told["agents_usage"]]
    tokens, cost = sum(map(sent, both)), float(told["cost"]["amount"])
    output = sum(one.get("output", 0) for one in both)
    out = {name: run("export", session, "-f", name, "--demo").out for name in NAMES}
    final = json.loads(out["atif"])["final_metrics"]
    assert final["total_prompt_tokens"] == sent(told["usage"])
    assert final["total_cost_usd"] == cost
    for name in ("messages", "sharegpt"):
        rows = [json.loads(line)["metadata"] for line in out[name].splitlines()]
        assert sum(sent(row["usage"]) for row in rows) == tokens
        assert {row["session_cost_usd"] for row in rows} == {cost}
        assert sum(row["cost_usd"] for row in rows) == pytest.approx(cost)
    rows = [json.loads(line) for line in out["inspect"].splitlines()]
    assert sum(row["total_tokens"] for row in rows) == tokens + output
    spans = [span for line in out["otel"].splitlines() for span in json.loads(line)["resourceSpans"][0]["scopeSpans"]]
    used = [
        int(one["value"]["intValue"])
        for scope in spans
        for span in scope["spans"]
        for one in span["attributes"]
        if one["key"] == "gen_ai.usage.input_tokens"
    ]
    assert sum(used) == tokens


@pytest.mark.parametrize("name", NAMES)
def test_what_leaves_is_redacted_and_says_so(name: str, source: tuple[str, str]) -> None:
    done = run("export", SESSION, "-f", name, *source)
    assert done.code == 0
    assert not [kind for kind, secret in SECRETS.items() if secret in done.out + done.err]
    assert "redacted: " in done.err
    plain = run("export", SESSION, "-f", name, "--no-redact", *source)
    assert "not redacted" in plain.err
    assert (SECRETS["prompt"] in plain.out) == (name != "otel")


def test_a_trajectory_is_shown_again(source: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.atif.json"
    assert run("export", SESSION, "-o", str(path), *source).code == 0
    shown = run("show", str(path))
    assert (shown.code, shown.err) == (0, "")
    assert "the harbour gauge reads two metres" in shown.out
    again = run("export", str(path), "-f", "messages", "--no-redact")
    assert again.code == 0
    assert json.loads(again.out.splitlines()[0])["metadata"]["title"]


def test_a_log_from_standard_input_is_redacted_too() -> None:
    done = run("export", "-", "-f", "messages", stdin=secretive().to_bytes())
    assert done.code == 0
    about = json.loads(done.out.splitlines()[0])["metadata"]
    assert about["session"] == SESSION
    assert SECRETS["prompt"] not in done.out


def test_several_go_to_a_folder_one_file_each(tmp_path: Path) -> None:
    done = run("export", STORM, NIGHTLY, "-f", "atif", "-o", str(tmp_path / "out"), "--demo")
    assert done.code == 0
    names = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert names == {f"{STORM}.atif.json", f"{NIGHTLY}.atif.json"}


def test_what_training_data_leaves_out_is_counted() -> None:
    done = run("export", STORM, "-f", "messages", "--demo")
    assert "left out: " in done.err
    assert "notices" in done.err
    for line in done.out.splitlines():
        assert {one["role"] for one in json.loads(line)["messages"]} <= {"system", "user", "assistant", "tool"}


def test_a_dataset_needs_a_licence_and_says_how_to_publish_it(source: tuple[str, str], tmp_path: Path) -> None:
    to = str(tmp_path / "traces")
    done = run("export", SESSION, "-f", "hf", "-o", to, *source)
    assert done.code == 2
    assert "--license" in done.err
    assert not Path(to).exists()
    done = run("export", SESSION, "-f", "hf", "-o", to, "--license", "cc-by-4.0", *source)
    assert done.code == 0
    assert f"hf upload USER/DATASET {to} . --repo-type dataset" in done.err
    assert f"hf buckets sync {to} hf://buckets/USER/BUCKET" in done.err
    assert (tmp_path / "traces" / "README.md").is_file()
    assert (tmp_path / "traces" / "sessions" / "claude-code" / f"{SESSION}.jsonl").is_file()


def test_events_of_the_agent_itself_go_to_a_file_of_their_own(source: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.otlp.jsonl"
    done = run("export", SESSION, "-o", str(path), "--like", "claude-code", *source)
    assert done.code == 0
    assert all("resourceSpans" in json.loads(line) for line in path.read_text().splitlines())
    beside = tmp_path / "run.logs.otlp.jsonl"
    assert all("resourceLogs" in json.loads(line) for line in beside.read_text().splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-f", "atif", "--content"), "--content is for otel, not for atif."),
        (("-f", "markdown", "--no-redact"), "--no-redact is for"),
        (("-f", "otel", "--arguments", "string"), "--arguments is for messages"),
        (("-f", "sharegpt", "--license", "mit"), "--license is for hf"),
        (("-f", "otel", "--header", "a: b"), "add --to URL"),
        (("-f", "otel", "--like", "aider"), "Aider has no names of its own"),
        (("-f", "otel", "--to", "http://collector.example:4318"), "is no https:// address"),
        (("-f", "otel", "--to", "http://localhost:1", "-o", "x"), "give one of them"),
    ],
)
def test_an_option_of_another_format_is_a_mistake(arguments: tuple[str, ...], words: str) -> None:
    done = run("export", STORM, *arguments, "--demo")
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_spans_are_sent_to_a_collector(source: tuple[str, str]) -> None:
    """With the header that was given; nothing else is asked of the network."""
    seen: list[tuple[str, str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers["X-Key"], json.loads(body)))
            answer = b'{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        done = run("export", SESSION, "-f", "otel", "--to", address, "--header", "X-Key: seven", *source)
        server.shutdown()
    assert (done.code, done.out) == (0, "")
    assert [(path, key) for path, key, _ in seen] == [("/v1/traces", "seven")]
    assert "1 batch sent · 2 refused · too old" in done.err
    assert not [kind for kind, secret in SECRETS.items() if secret in json.dumps(seen)]


class TestAllSessions:
    """The command that exports all sessions, which the group `lake` holds."""

    def lake(self, *arguments: str) -> Result:
        return CliRunner().invoke(export_command, [*arguments, "--source", str(demo_folder())])

    def test_every_listed_session_is_a_file(self, tmp_path: Path) -> None:
        done = self.lake("atif", str(tmp_path / "out"))
        assert done.exit_code == 0, done.output
        listed = json.loads(run("list", "--json", "-n", "0", "--demo").out)["sessions"]
        stems = {path.name.removesuffix(".atif.json") for path in (tmp_path / "out").glob("*/*.atif.json")}
        assert stems == {one["id"] for one in listed}
        assert f"{len(listed)} sessions · redacted: " in done.output

    def test_some_are_chosen_and_json_tells_what_was_done(self, tmp_path: Path) -> None:
        done = self.lake("messages", str(tmp_path), "--since", "2026-08-01", "--json", "--no-redact")
        told = json.loads(done.stdout)
        assert told["sessions"] == len(list(tmp_path.glob("*/*.messages.jsonl"))) > 0
        assert told["rules"] == ""
        assert told["failures"] == []

    def test_it_says_where_to(self, tmp_path: Path) -> None:
        for arguments in (("otel",), ("otel", str(tmp_path), "--to", "http://localhost:1")):
            done = self.lake(*arguments)
            assert "Say where it goes" in str(done.exception)
