"""The invented project itself: its files as they were and became, its pictures, its terminal."""

import math

from tests.log_builder.prompts import make_png

CWD = "/home/dev/harbour"
PARSER = f"{CWD}/harbour/tides.py"
TESTS = f"{CWD}/tests/test_tides.py"
SOUNDINGS = f"{CWD}/notebooks/soundings.ipynb"

FIRST_PARSER = '''"""Tide tables: one line a tide, as the port prints them."""

from datetime import datetime


def parse(line):
    day, time, height = line.split()
    return datetime.fromisoformat(f"{day}T{time}"), float(height)
'''

COMMA_PARSER = '''"""Tide tables: one line a tide, as the port prints them."""

from datetime import datetime


def parse(line):
    day, time, height = line.split()
    return datetime.fromisoformat(f"{day}T{time}"), float(height.replace(",", "."))


def parse_table(text):
    return [parse(line) for line in text.splitlines() if line.strip()]
'''

ZONED_PARSER = '''"""Tide tables: one line a tide, as the port prints them, in the port's own time."""

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Tide:
    """High or low water: when, in UTC, and how many metres above chart datum."""

    time: datetime
    height: float


def parse(line: str, zone: ZoneInfo) -> Tide:
    day, time, height = line.split()
    local = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=zone)
    return Tide(local.astimezone(UTC), float(height.replace(",", ".")))


def parse_table(text: str, zone: ZoneInfo) -> list[Tide]:
    return [parse(line, zone) for line in text.splitlines() if line.strip()]
'''

FIRST_TESTS = """from harbour.tides import parse


def test_a_line_is_a_time_and_a_height():
    time, height = parse("2026-01-12 04:37 5.21")
    assert time.hour == 4
    assert height == 5.21
"""


def pytest_passed(count: int) -> str:
    """What pytest prints, in colour, when all is well."""
    dots = "\x1b[32m.\x1b[0m" * count
    return (
        "\x1b[1m============================= test session starts ==============================\x1b[0m\n"
        f"collected {count} items\n\n"
        f"tests/test_tides.py {dots} \x1b[32m[100%]\x1b[0m\n\n"
        f"\x1b[32m======================= \x1b[1m{count} passed\x1b[0m\x1b[32m in 0.21s =======================\x1b[0m"
    )


def pytest_failed(line: str, error: str) -> str:
    """What pytest prints, in colour, when a test fails; the first line is Claude Code's."""
    return (
        "Exit code 1\n"
        "\x1b[31mF\x1b[0m                                                       \x1b[31m[100%]\x1b[0m\n"
        "=================================== FAILURES ===================================\n"
        "\x1b[31m\x1b[1m______________________ test_a_line_is_a_time_and_a_height ______________________\x1b[0m\n"
        f">       {line}\n"
        f"\x1b[1m\x1b[31mE       {error}\x1b[0m\n"
        "\x1b[36m\x1b[1m=========================== short test summary info ============================\x1b[0m\n"
        "\x1b[31mFAILED\x1b[0m tests/test_tides.py::\x1b[1mtest_a_line_is_a_time_and_a_height\x1b[0m\n"
        "\x1b[31m\x1b[1m1 failed\x1b[0m\x1b[31m in 0.04s\x1b[0m"
    )


COMMA = pytest_failed(
    'time, height = parse("2026-01-12 04:37 5,21")', "ValueError: could not convert string to float: '5,21'"
)
UNPACKED = pytest_failed("time, height = parse(", "TypeError: cannot unpack non-iterable Tide object")

PLAN = """# Plan: tides in the port's own time

The tables are printed in local time. We read them as if they were UTC, so every tide in summer is an hour late.

## Steps

1. Give `parse` the port's time zone and return a `Tide` in UTC.
2. Refuse the hour that does not exist in spring; take the first of the two in autumn.
3. Test both nights of the clock change, and one table from each season.

## Not in this change

The display keeps showing port time; only storage becomes UTC.
"""

FIRST_PLAN = """# Plan: rewrite the tide reader

Replace the reader by a general table parser with a plugin for each port, a cache and a configuration file.
"""


def wave_png(width: int = 96, height: int = 48) -> bytes:
    """A picture of a day's two tides, drawn as a curve."""
    rows = bytearray(b"\xf4" * width * height)
    for at in range(width):
        level = round(height / 2 - height / 3 * math.sin(4 * math.pi * at / width))
        for row in range(level, height):
            rows[row * width + at] = 0x50 if row < level + 2 else 0xB8
    return make_png(width, height, bytes(rows))


def chart_png(size: int = 48) -> bytes:
    """A picture of the harbour's mouth: two moles and the gap between them."""
    rows = bytearray(b"\xd8" * size * size)
    for row in range(size):
        for at in range(size):
            if abs(row - size // 2) < 3 and not size // 3 < at < 2 * size // 3:
                rows[row * size + at] = 0x30
    return make_png(size, size, bytes(rows))
