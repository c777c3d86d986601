"""Who is asked, and with which key, by what was said where."""

from pathlib import Path
from typing import Any

import pytest

from tests.copies.compress.model import KEY, model, passages
from unspool.agents import ClaudeCode
from unspool.copies.compress.passages import TurnBands
from unspool.copies.compress.providers import Anthropic, OpenAi, PrintMode, ServiceOptions, connect, service_options
from unspool.copies.compress.run import compress
from unspool.errors import NotFound, Unreadable, UsageProblem

AGENT = ClaudeCode()


def sent(said: ServiceOptions, environment: dict[str, str], path: str = "") -> dict[str, str]:
    """The headers of a request to a model on loopback."""
    with model() as server:
        asked = connect(said._replace(url=server.address + path), environment, AGENT)
        compress(passages(1), TurnBands.parse("0-100:light"), asked)
    return server.heard[0].headers


def test_flags_go_before_the_environment_and_that_before_settings() -> None:
    environment = {"UNSPOOL_COMPRESS_MODEL": "b", "UNSPOOL_COMPRESS_URL": "https://b.example"}
    table = {"model": "c", "url": "https://c.example", "provider": "anthropic", "key_file": "~/key"}
    assert service_options(ServiceOptions(model="a"), environment, table) == ServiceOptions(
        "anthropic", "https://b.example", "a", "", "~/key"
    )
    assert service_options(ServiceOptions(), {}, {}) == ServiceOptions()


@pytest.mark.parametrize("table", [{"modell": "x"}, {"model": 7}, {"key": KEY}])
def test_a_wrong_setting_is_told(table: dict[str, Any]) -> None:
    """By its name and never by its value: someone may have put a key there."""
    with pytest.raises(UsageProblem, match=f"compress.{next(iter(table))} ") as caught:
        service_options(ServiceOptions(), {}, table)
    assert KEY not in str(caught.value)


def test_without_an_address_the_agent_itself_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFound):
        connect(ServiceOptions(), {}, AGENT)
    program = tmp_path / AGENT.asking.ask("", "")[0]
    program.touch()
    program.chmod(0o700)
    assert isinstance(connect(ServiceOptions(), {}, AGENT), PrintMode)


@pytest.mark.parametrize(
    ("said", "made", "name"),
    [
        (ServiceOptions(url="https://example.org/v1", model="m"), OpenAi, "example.org"),
        (ServiceOptions(url="https://api.anthropic.com", model="m"), Anthropic, "api.anthropic.com"),
        (ServiceOptions("anthropic", "https://example.org", "m"), Anthropic, "example.org"),
        (ServiceOptions("openai", model="m"), OpenAi, "api.openai.com"),
        (ServiceOptions("anthropic", model="m"), Anthropic, "api.anthropic.com"),
    ],
    ids=["by-address", "by-known-address", "by-name", "usual-1", "usual-2"],
)
def test_the_dialect_follows_what_was_said(said: ServiceOptions, made: type, name: str) -> None:
    found = connect(said, {}, AGENT)
    assert isinstance(found, made)
    assert (found.name, found.model) == (name, "m")


@pytest.mark.parametrize(
    "said",
    [
        ServiceOptions("elsewhere", "https://example.org", "m"),
        ServiceOptions("agent", "https://example.org", "m"),
        ServiceOptions(url="https://example.org"),
        ServiceOptions(url="http://example.org", model="m"),
        ServiceOptions(url="https://name:password@example.org", model="m"),
        ServiceOptions(url="https://example.org", model="m\nX-Other: y"),
        ServiceOptions("agent", model="--dangerous"),
        ServiceOptions(url="https://example.org", model="m", key_variable="NOT_SET"),
    ],
    ids=["kind", "agent-url", "no-model", "open", "password", "header", "option", "variable"],
)
def test_what_cannot_be_is_refused(said: ServiceOptions) -> None:
    with pytest.raises(UsageProblem) as caught:
        connect(said, {}, AGENT)
    assert "password@" not in str(caught.value)


def test_the_key_comes_from_the_environment() -> None:
    """From our own variable, or from the one that was named."""
    assert sent(ServiceOptions(model="m"), {"UNSPOOL_COMPRESS_KEY": KEY})["authorization"] == f"Bearer {KEY}"
    named = ServiceOptions(model="m", key_variable="HOUSE_KEY")
    assert sent(named, {"HOUSE_KEY": KEY, "UNSPOOL_COMPRESS_KEY": "other"})["authorization"] == f"Bearer {KEY}"


def test_the_key_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    said = ServiceOptions("anthropic", model="m", key_file=str(tmp_path / "key"))
    assert sent(said, {})["x-api-key"] == KEY
    with pytest.raises(Unreadable, match="cannot be read"):
        sent(said._replace(key_file=str(tmp_path / "none")), {})


def test_the_key_of_a_known_service_goes_to_nobody_else() -> None:
    """A key that lies in the environment for one service is not given to another address."""
    keys = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}
    assert KEY not in str(sent(ServiceOptions(model="m"), keys))
    usual = connect(ServiceOptions("anthropic", model="m"), keys, AGENT)
    assert isinstance(usual, Anthropic)
    assert usual._signed()["x-api-key"] == KEY
    near = connect(ServiceOptions("openai", "https://api.openai.com.example.org", "m"), keys, AGENT)
    assert isinstance(near, OpenAi)
    assert near._signed() == {}


@pytest.mark.parametrize("key", ["two\nlines", "spaß", "-x"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        connect(ServiceOptions(url="https://example.org", model="m"), {"UNSPOOL_COMPRESS_KEY": key}, AGENT)
    assert key not in str(caught.value)
