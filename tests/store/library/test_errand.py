"""What another process does is what this one would have done."""

import os

import pytest

from unspool.workers import ProcessCall

HERE = os.getpid()


def doubled(number: int) -> tuple[int, bool]:
    return 2 * number, os.getpid() == HERE


def dying(number: int) -> int:
    if os.getpid() != HERE:
        os._exit(3)
    return number


def failing(number: int) -> int:
    raise ValueError(number)


@pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere a process loads this module anew")
def test_other_processes_do_it() -> None:
    errands = [ProcessCall(doubled, number) for number in range(3)]
    assert [errand.result() for errand in errands] == [(0, False), (2, False), (4, False)]


@pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere a process loads this module anew")
def test_what_a_process_that_died_left_is_done_here() -> None:
    assert ProcessCall(dying, 7).result() == 7


@pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere a process loads this module anew")
def test_an_error_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="7"):
        ProcessCall(failing, 7).result()
    assert "ValueError" in capfd.readouterr().err
