"""The usage record of a message: each figure once, whatever shape the version wrote."""

from unspool.formats.claude_code.values import text, whole
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
    server = record.get("server_tool_use")
    searches, fetches = 0, 0
    if isinstance(server, dict):
        searches, fetches = whole(server.get("web_search_requests")), whole(server.get("web_fetch_requests"))
    return Usage(
        whole(record.get("input_tokens")),
        whole(record.get("output_tokens")),
        whole(record.get("cache_read_input_tokens")),
        written,
        hour,
        searches,
        fetches,
    )


def billing(record: Json) -> tuple[str, str, str]:
    """(speed, tier, geography) where they change the price; empty for the standard."""
    if not isinstance(record, dict):
        return "", "", ""
    speed, tier, geo = record.get("speed"), record.get("service_tier"), record.get("inference_geo")
    return (
        "" if speed is None or speed == "standard" else text(speed),
        "" if tier is None or tier == "standard" else text(tier),
        "" if geo is None or geo in ("not_available", "global") else text(geo),
    )
