"""Reading fields of untrusted data: the value if it has the right type, else a harmless one."""

from datetime import UTC, datetime
from typing import Any

from unspool.model import Json

LARGEST = 2**53


def text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def whole(value: Json) -> int:
    """A count: never negative, never beyond what any reader of JSON can hold, 0 for anything else."""
    if type(value) is int and 0 <= value <= LARGEST:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, min(int(value), LARGEST))


def mapping(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def moment(value: Json) -> datetime | None:
    """An ISO timestamp, or seconds or milliseconds since 1970, as an aware UTC time."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo is UTC else _aware(found)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _aware(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
