"""Copies made by the command line as a user would, and the agent's own judgement of them: it resumes each."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.agents import environment
from tests.live.stage import ROOT, Run, Stage
from tests.live.steps import say
from unspool.store.library import Library

PRESETS = ("default", "aggressive", "heavy", "extreme", "none")
ACTS = (*PRESETS, "in place", "fork", "move", "repair", "import", "bundle")
"""Every way to make a copy; `fork` stands for one at each turn."""

PROMPT = "And what comes after the copy?"
ANSWER = "After the copy comes this."

Message = dict[str, Any]


class NotMade(Exception):
    """The command did not make a copy, and said why."""


@dataclass(frozen=True)
class Case:
    """A copy to make and to judge."""

    name: str
    session: str
    act: str
    turn: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.session[:8]} {self.act}{f' at {self.turn}' if self.turn else ''}"


@dataclass
class Bench:
    """An agent's folder with sessions in it, and a stage: where copies are made and resumed, one after the other."""

    stage: Stage
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "config"

    def judge(self, case: Case) -> str:
        """What is wrong with a copy; empty where the agent goes on from it as it promised."""
        try:
            made = self.make(case)
        except NotMade as why:
            return f"not made: {why}"
        cwd, copy = Path(made["cwd"]), str(made["session"])
        if not cwd.is_dir():
            return f"made for {cwd}, which is no folder"
        promised = promise(self.config, copy)
        run = self.stage.run_claude(self.config, cwd, PROMPT, [say(ANSWER)], resume=copy)
        return broken(run, promised)

    def make(self, case: Case) -> Message:
        """What the command says it made."""
        session = case.session
        elsewhere = self.folder / "elsewhere" / uuid.uuid4().hex
        match case.act:
            case "fork":
                return self.unspool("fork", session, "--at", str(case.turn))
            case "move":
                elsewhere.mkdir(parents=True)
                return self.unspool("move", session, "--to", str(elsewhere))
            case "repair":
                return self.unspool("repair", self.damage(session))
            case "import":
                elsewhere.mkdir(parents=True)
                return self.unspool("import", str(self.log(session)), "--to", str(elsewhere))
            case "bundle":
                elsewhere.mkdir(parents=True)
                bundle = elsewhere.with_suffix(".tar.gz")
                self.unspool("share", session, "--bundle", "--yes", "-o", str(bundle))
                return self.unspool("import", str(bundle), "--to", str(elsewhere))
            case "in place":  # of a plain copy, for others look at the session as it is
                copy = self.unspool("clone", session, "--preset", "none")
                self.unspool("clone", copy["session"], "--in-place", "--preset", "heavy")
                return copy
            case preset:
                return self.unspool("clone", session, "--preset", preset)

    def unspool(self, *words: str) -> Message:
        """The real command, with JSON out."""
        env = {**environment(self.config), "PYTHONPATH": str(ROOT / "src"), "XDG_DATA_HOME": str(self.folder / "data")}
        done = subprocess.run(
            [sys.executable, "-m", "unspool", *words, "--json"], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NotMade(" ".join(done.stderr.split()) or f"exit {done.returncode}")
        found: Message = json.loads(done.stdout)
        return found["sessions"][0] if "sessions" in found else found

    def log(self, session: str) -> Path:
        (found,) = self.config.glob(f"projects/*/{session}.jsonl")
        return found

    def damage(self, session: str) -> str:
        """A session of its own with the same lines, the last one torn, two glued together and a result lost."""
        log, new = self.log(session), str(uuid.uuid4())
        lines = log.read_text("utf-8").replace(session, new).splitlines()
        results = [at for at, line in enumerate(lines) if '"type":"tool_result"' in line]
        if results:
            del lines[results[len(results) // 2]]
        middle = len(lines) // 2
        lines[middle : middle + 2] = ["".join(lines[middle : middle + 2])]
        last = lines[-1]
        log.with_name(f"{new}.jsonl").write_text("\n".join([*lines, last[: len(last) // 2]]), "utf-8")
        return new


def bench(stage: Stage, folder: Path, config: Path) -> Bench:
    """A bench with copies of all that another folder of the agent holds."""
    shutil.copytree(config, folder / "config")
    return Bench(stage, folder)


def cases(name: str, session: str, config: Path, acts: Sequence[str] = ACTS) -> Iterator[Case]:
    """Every copy of a session; forks at each of its turns."""
    for act in acts:
        if act != "fork":
            yield Case(name, session, act)
            continue
        for turn in Library([config]).open(session).turns:
            if turn.prompt is not None:
                yield Case(name, session, act, turn.number)


# --- what was promised, and what was sent ------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """What the agent must send of a copy: the words of both, in order, and the ids of the calls."""

    words: list[str]
    calls: list[str]


def promise(config: Path, name: str) -> Promise:
    """What stands on the live path of a session, errors in place of an answer left out."""
    session = Library([config]).open(name)
    order = {one: at for at, one in enumerate(session.live)}
    lines = [json.loads(line) for line in Path(session.log.path).read_text("utf-8").splitlines()]
    spoken = [line for line in lines if line.get("uuid") in order and line["type"] in {"user", "assistant"}]
    spoken.sort(key=lambda line: order[line["uuid"]])
    messages = [line["message"] for line in spoken if not line.get("isMeta") and not line.get("isApiErrorMessage")]
    return Promise(
        [text for one in messages if one.get("model") != "<synthetic>" for text in _texts(one) if text.strip()],
        [block["id"] for one in messages for block in _blocks(one) if block.get("type") == "tool_use"],
    )


def _blocks(message: Message) -> list[Message]:
    content = message.get("content") or []
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _texts(message: Message) -> Iterator[str]:
    return (block["text"] for block in _blocks(message) if block.get("type") == "text")


def broken(run: Run, promised: Promise) -> str:
    """How what was sent differs from what was promised; empty where it does not."""
    if run.exit_code:
        return f"exit {run.exit_code}: {(run.stderr or run.text or run.stdout).strip()[-300:]}"
    if not run.talks:
        return f"nothing was sent: {run.text[:200]}"
    talk = run.talks[0]
    return unpaired(talk) or _not_sent(talk, promised) or _not_last(talk)


def _not_sent(talk: Sequence[Message], promised: Promise) -> str:
    said = "\n".join(text for message in talk if message["role"] != "system" for text in _texts(message))
    at = 0
    for text in map(str.strip, promised.words):
        found = said.find(text, at)
        if found < 0:
            return f"{'out of order' if text in said else 'not sent'}: {text[:160]!r}"
        at = found + len(text)
    called = {block["id"] for message in talk for block in _blocks(message) if block["type"] == "tool_use"}
    lost = [one for one in promised.calls if one not in called]
    return f"{len(lost)} calls were not sent, first {lost[0]}" if lost else ""


def _not_last(talk: Sequence[Message]) -> str:
    last = [message for message in talk if message["role"] == "user"][-1]
    return "" if any(PROMPT in text for text in _texts(last)) else "the new prompt does not come last"


def unpaired(talk: Sequence[Message]) -> str:
    """The first call without its result in the message after it, or result without its call in the one before."""
    spoken = [message for message in talk if message["role"] != "system"]
    asked: set[str] = set()
    for at, message in enumerate(spoken):
        blocks = _blocks(message)
        given = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if missing := asked - given:
            return f"no result for {sorted(missing)[0]} in message {at}"
        if extra := given - asked:
            return f"a result without its call, {sorted(extra)[0]}, in message {at}"
        asked = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return f"no result for {sorted(asked)[0]} at the end" if asked else ""


def thorough() -> bool:
    """Whether every copy is made rather than a sample."""
    return bool(os.environ.get("UNSPOOL_THOROUGH"))
