"""What is Copilot CLI's own: records of what each request used, and reports of all of it at the end."""

from pathlib import Path

import pytest

from tests.agents.stories.copilot import write
from unspool.model import Usage
from unspool.store.library import Library


@pytest.mark.parametrize(
    ("ended", "spent"),
    [
        (True, {"r4": Usage(15, 10, 100, 5), "m1": Usage(output=8), "report": Usage(45, 2, 60)}),
        (False, {"r4": Usage(15, 10, 100, 5), "m1": Usage(output=8)}),
    ],
)
def test_a_request_is_counted_once_by_its_record(ended: bool, spent: dict[str, Usage], tmp_path: Path) -> None:
    """With the report that a session ends with, and where it was broken off before."""
    path = write(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines if ended else lines[:-1]))
    (log,) = Library([tmp_path]).logs()
    messages = Library([tmp_path]).open(log).messages
    found = {one.id if len(one.id) == 2 else "report": one.usage for one in messages if one.usage.total}
    assert found == spent
