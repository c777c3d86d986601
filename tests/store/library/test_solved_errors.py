"""Errors like one are found over all sessions, the solved and most alike first."""

from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import asked
from unspool import open_session
from unspool.errors import NotFound, UsageProblem
from unspool.model import Session
from unspool.store.library.solved_errors import ErrorSources, FoundSolution, find_solutions

ERROR = "BerthError: quay {} is taken by the ferry"


def met(name: str, number: int, *, solved: bool, error: str = ERROR) -> LogBuilder:
    log = LogBuilder(session_id=name)
    bad, good = (log.use("Bash", command=f"moor --quay {number}") for _ in range(2))
    log.prompt("Moor it").assistant(bad).result(bad, error.format(number), error=True)
    return log.assistant(good).result(good, "moored") if solved else log.assistant(log.text("Oh."))


def found(folder: Path, *logs: LogBuilder, without: tuple[str, ...] = (), gone: str = "") -> list[FoundSolution]:
    def opened(key: str) -> Session:
        if key == gone:
            raise NotFound("It is gone.")
        return open_session(next((folder / "source").rglob(f"{key}.jsonl")))

    with asked(folder, *logs) as made:
        return find_solutions(ErrorSources(made.store.db, made.archive, opened), ERROR.format(77), without)


LOGS = (
    met("open", 1, solved=False),
    met("less", 2, solved=True, error="BerthError: quay {} is taken"),
    met("solved", 3, solved=True),
    met("other", 4, solved=True, error="WindError: too much of it at {}"),
)


def test_the_solved_and_most_alike_come_first(tmp_path: Path) -> None:
    assert [one.session for one in found(tmp_path, *LOGS)] == ["solved", "less", "open"]


def test_some_sessions_are_left_out_and_one_that_is_gone_hides_no_other(tmp_path: Path) -> None:
    assert [one.session for one in found(tmp_path, *LOGS, without=("solved",), gone="less")] == ["open"]


def test_an_error_without_words_is_a_question_nobody_can_answer(tmp_path: Path) -> None:
    with asked(tmp_path, LOGS[0]) as made, pytest.raises(UsageProblem):
        find_solutions(ErrorSources(made.store.db, made.archive, open_session), "12 0x3f /a/b")
