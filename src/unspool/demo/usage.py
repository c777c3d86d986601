"""Tokens of one answer, and how each version of Claude Code spells them in a line."""

from dataclasses import dataclass, replace
from typing import Any

Fields = dict[str, Any]


def number(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: "2.1.30" comes after "2.1.4"."""
    return tuple(int(part) for part in version.partition("-")[0].split("."))


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What one request cost; `hour` is the part of `write` cached for an hour."""

    input: int = 4
    output: int = 120
    read: int = 0
    write: int = 0
    hour: int = 0
    thinking: int = 0
    searches: int = 0
    fetches: int = 0
    speed: str = "standard"
    tier: str = "standard"
    geo: str = "not_available"

    def output_of(self, output: int) -> "Tokens":
        """The same request with another output figure."""
        return replace(self, output=output)

    def wire(self, version: str) -> Fields:
        """The `usage` object as that version writes it."""
        since = number(version)
        fields: Fields = {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.write,
            "cache_read_input_tokens": self.read,
            "output_tokens": self.output,
            "service_tier": self.tier,
        }
        if since >= (1, 0, 56):
            fields["server_tool_use"] = {"web_search_requests": self.searches, "web_fetch_requests": self.fetches}
        if since >= (1, 0, 80):
            fields["cache_creation"] = self._lifetimes()
        if since >= (2, 1, 17):
            fields["inference_geo"] = self.geo
        if since >= (2, 1, 38):
            fields["iterations"] = [self._iteration()]
        if since >= (2, 1, 41):
            fields["speed"] = self.speed
        if since >= (2, 1, 228):
            fields["output_tokens_details"] = {"thinking_tokens": self.thinking}
        return fields

    def _lifetimes(self) -> Fields:
        return {"ephemeral_5m_input_tokens": self.write - self.hour, "ephemeral_1h_input_tokens": self.hour}

    def _iteration(self) -> Fields:
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.write,
            "cache_creation": self._lifetimes(),
            "type": "message",
        }
