"""Whether the agent could go on with a log, by three judges.

Our validator, by the rules for any log and by those for a copy of ours; the agent's own reader, where it is installed;
and the provider's rules, written down apart from the validator, for the messages that its reader finds in the log. The
last is the hardest: logs that the agent itself left and went on with break some of these, by a blank text or a call
at the end without result. They run in a process of their own, so that what they hold is not counted as a measured
command's.
"""

import importlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

from bench.corpus import ROOT
from bench.measure import run

_UUID = re.compile(rb'"uuid":\s*"([^"]+)"')


@dataclass(frozen=True)
class Verdict:
    """What the judges say of one log."""

    messages: int
    """That the agent would send when it goes on."""
    errors: Sequence[str]
    """Rules that our validator finds broken, of those for any log."""
    strict: Sequence[str]
    """The same, of those for a copy of ours."""
    refusals: Sequence[str]
    """What the provider would say, were the messages sent as they stand."""
    read: int | None
    """Messages that the agent's own reader finds; None where it is not installed."""
    kept: int
    """Lines that still have the id of a line of the original."""

    @property
    def faults(self) -> list[str]:
        """Why the agent could not go on with it; nothing where it could."""
        return [*self.errors, *(["nothing to go on with"] if not self.messages or self.read == 0 else [])]


Pair = tuple[Path, Path]
"""A log, and the one that it was made of: itself, where it was made of none."""


def judged(pairs: Sequence[Pair]) -> list[Verdict]:
    """A verdict for each log; they lie in `projects` of an agent's folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as asked:
        json.dump([[str(log), str(source)] for log, source in pairs], asked)
        asked.flush()
        done = run([sys.executable, "-m", "bench.judges", asked.name], {"PYTHONPATH": str(ROOT)})
    if done.failed:
        raise RuntimeError(f"the judges failed: {done.failed}")
    return [Verdict(**one) for one in json.loads(done.output)]


def verdict(log: Path, source: Path) -> Verdict:
    """What each judge says, asked in this process."""
    from bench.messages_api import refusals
    from bench.resumed_messages import rebuilt

    lines = log.read_bytes().splitlines(keepends=True)
    messages = rebuilt(lines)
    errors = _broken(lines, strict=False)
    strict = _broken(lines, strict=True) if log != source else []
    kept = 0 if log == source else len(_ids(log) & _ids(source))
    return Verdict(len(messages), errors, strict, refusals(messages) if messages else [], _read(log), kept)


def _broken(lines: Iterable[bytes], *, strict: bool) -> list[str]:
    from unspool.agents.claude_code.lint import lint
    from unspool.agents.writing import errors

    return [finding.rule for finding in errors(lint(lines, strict=strict))]


def _ids(log: Path) -> set[bytes]:
    return set(_UUID.findall(log.read_bytes()))


def _read(log: Path) -> int | None:
    reader = _reader()
    if reader is None:
        return None
    os.environ["CLAUDE_CONFIG_DIR"] = str(log.parent.parent.parent)
    return len(reader.get_session_messages(log.stem))


def _reader() -> ModuleType | None:
    try:
        return importlib.import_module("claude_agent_sdk")
    except ModuleNotFoundError:
        return None


def main(asked: Path) -> None:
    """The judging process: pairs in, verdicts out."""
    pairs = json.loads(asked.read_text())
    print(json.dumps([asdict(verdict(Path(log), Path(source))) for log, source in pairs]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
