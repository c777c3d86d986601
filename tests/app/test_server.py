"""Memory that was freed, shared by all threads of the app."""

import platform
import subprocess
import sys

import pytest

THREADS = """
import sys, threading
from pathlib import Path
if sys.argv[1:]:
    from unspool.app.server import return_freed_memory
    return_freed_memory()
ready = threading.Barrier(4)
def work():
    ready.wait()
    held = [bytes(100_000) for _ in range(50)]
    ready.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ranges = (line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines() if "---p" in line)
print(sum(int(last, 16) - int(first, 16) > 32 << 20 for first, last in ranges))
"""
"""Prints how many stretches of memory the C library set aside for single threads."""


def set_aside(*arguments: str) -> int:
    told = subprocess.run([sys.executable, "-c", THREADS, *arguments], capture_output=True, text=True, check=True)
    return int(told.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_no_thread_has_memory_of_its_own() -> None:
    """What the library would set aside for each is not."""
    assert set_aside() > 0
    assert set_aside("give back") == 0
