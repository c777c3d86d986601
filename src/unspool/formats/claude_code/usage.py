"""The usage record of a message: each figure once, whatever shape the version wrote."""

from unspool.formats.claude_code.values import mapping, text, whole
from unspool.model import Json, Usage


def usage(record: Json) -> Usage | None:
    """Tokens of one request; None where the line has no record."""
    if not isinstance(record, dict):
        return None
    lifetimes = record.get("cache_creation")
    written = whole(record.get("cache_creation_input_tokens"))
    hour = 0
    if isinstance(lifetimes, dict):
        hour = whole(lifetimes.get("ephemeral_1h_input_tokens"))
        # Versions before 2.1.152 left the flat figure at 0 where the API filled only the nested one.
        written = max(written, hour + whole(lifetimes.get("ephemeral_5m_input_tokens")))
    server = mapping(record.get("server_tool_use"))
    return Usage(
        whole(record.get("input_tokens")),
        whole(record.get("output_tokens")),
        whole(record.get("cache_read_input_tokens")),
        written,
        hour,
        whole(server.get("web_search_requests")),
        whole(server.get("web_fetch_requests")),
    )


def billing(record: Json) -> tuple[str, str, str]:
    """(speed, tier, geography) where they change the price; empty for the standard."""
    if not isinstance(record, dict):
        return "", "", ""
    speed, tier, geo = (text(record.get(key)) for key in ("speed", "service_tier", "inference_geo"))
    return (
        speed if speed != "standard" else "",
        tier if tier != "standard" else "",
        geo if geo not in ("not_available", "global") else "",
    )
