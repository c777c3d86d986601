"""What the file system says of a file, and what keeping it came to."""

import os
from typing import Literal, NamedTuple

Outcome = Literal["same", "new", "grown", "rewritten"]


class Status(NamedTuple):
    """What the file system says of a file; equal figures mean equal content."""

    size: int
    modified: int
    changed: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Status":
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
