"""Where the log keeps the requests, the window of each is known exactly, and adds up to what was measured."""

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.reading.reading import FORMAT, entries, session
from unspool.figures.context_window import ContextWindow, context_window, request_windows
from unspool.figures.tokens import estimate_tokens

SYSTEM = "You are careful. " * 50
TOOLS = [{"name": "Bash", "description": "Run a command. " * 40, "input_schema": {"type": "object"}}]
OUTPUT = "one two three\n" * 300


def conversation(*, keeps: bool = True) -> LogBuilder:
    log = LogBuilder(version="2.1.325", model="claude-opus-5-5").prompt("List the folder.")

    def ask() -> None:
        if keeps:
            log.sends(SYSTEM, TOOLS, "It is Monday.")

    ask()
    use = log.use("Bash", command="ls")
    log.assistant(use, usage=DemoTokens(input=10, read=1000, output=50)).result(use, OUTPUT)
    ask()
    return log.assistant(log.text("Done."), usage=DemoTokens(input=10, read=4000, output=5))


def filled(log: LogBuilder) -> ContextWindow:
    return context_window(session(log), FORMAT.requests(entries(log.to_bytes())))


def test_nothing_of_an_exact_window_is_unaccounted_for() -> None:
    now = filled(conversation()).now
    assert now is not None
    assert now.exact
    assert now.unaccounted == 0
    assert sum(now.kinds.values()) == now.measured == 4010
    assert {"system prompt", "tool definitions", "tool output", "tool input", "prompts", "instructions"} <= set(
        now.kinds
    )


def test_what_was_measured_is_shared_out_by_the_size_of_the_pieces() -> None:
    now = filled(conversation()).now
    assert now is not None
    ratio = now.kinds["tool output"] / now.kinds["system prompt"]
    assert abs(ratio - estimate_tokens(OUTPUT) / estimate_tokens(SYSTEM)) < 0.05 * ratio


def test_the_tools_part_is_of_the_exact_window() -> None:
    found = filled(conversation())
    assert found.now is not None
    (bash,) = found.tools
    assert abs(bash.output - found.now.kinds["tool output"]) <= 0.01 * bash.output
    assert found.now.beside == found.now.kinds["system prompt"] + found.now.kinds["tool definitions"]


def test_without_requests_it_is_an_estimate() -> None:
    now = filled(conversation(keeps=False)).now
    assert now is not None
    assert not now.exact
    assert now.unaccounted > 0
    assert now.beside == now.unaccounted


def test_a_request_that_is_not_whole_is_an_estimate() -> None:
    log = conversation()
    log.lines = [line for line in log.lines if not (isinstance(line, dict) and line["type"] == "api-request-blob")]
    assert [one.exact for one in request_windows(session(log), FORMAT.requests(entries(log.to_bytes())))] == [
        False,
        False,
    ]
