"""Work that was finished before: groups of a write that broke off, and shares of the sessions that others read.

A write takes over what is still as it was read, and reads the rest. Nothing of it is seen by readers until then.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from unspool.errors import NotFound, Unreadable, UsageProblem
from unspool.lake.group import NOTE, GroupResult, LogTask, session_state
from unspool.lake.manifest import RUNS, SHARDS, is_part_path
from unspool.lake.settle import LakeKey, RememberedSessions
from unspool.lake.storage import LakeStorage, in_threads

_WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})")


class Shard(NamedTuple):
    """One of several shares of all sessions; a session is in one of them with all of its files."""

    number: int
    """From 1."""
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        told = _WRITTEN.fullmatch(text)
        shard = cls(int(told[1]), int(told[2])) if told is not None else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise UsageProblem(f"A shard is written 3/8, the third of eight, and not {text}.")
        return shard

    def holds(self, key: LakeKey) -> bool:
        digest = sha256("\n".join(key).encode(errors="replace")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1

    @property
    def folder(self) -> str:
        """Where its files lie in the lake."""
        return f"{SHARDS}/{self.number}-of-{self.of}"

    @property
    def manifest(self) -> str:
        return f"{self.folder}.json"


class ShardManifest(msgspec.Struct, frozen=True):
    """What a shard has made, once it is done."""

    salt: str
    """How logs became rows."""
    results: list[GroupResult]


def save_shard(storage: LakeStorage, shard: Shard, salt: str, results: Sequence[GroupResult]) -> None:
    storage.put(shard.manifest, msgspec.json.encode(ShardManifest(salt, list(results))))


def shard_results(storage: LakeStorage, count: int, salt: str) -> list[GroupResult]:
    """What all shards have made; UsageProblem names those that are not done, or were made otherwise."""
    missing, other, found = list[int](), list[int](), list[GroupResult]()
    for number in range(1, count + 1):
        try:
            made = msgspec.json.decode(storage.read(Shard(number, count).manifest), type=ShardManifest)
        except NotFound:
            missing.append(number)
            continue
        except msgspec.DecodeError:
            raise Unreadable(f"The note of shard {number} of {count} is damaged: run it again.") from None
        if made.salt != salt:
            other.append(number)
        found += made.results
    if missing:
        raise UsageProblem(f"Not done yet of {count} shards: {_listed(missing)}.")
    if other:
        raise UsageProblem(
            f"Written with other options, prices or another version: shards {_listed(other)} of {count}."
        )
    return found


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def finished_groups(storage: LakeStorage, folder: str = RUNS) -> list[GroupResult]:
    """Groups that a write finished before it broke off."""
    here = {file.path for file in storage.files(folder)}
    found: list[GroupResult] = []
    for data in in_threads(storage.read, [path for path in here if path.endswith(f"/{NOTE}")]):
        try:
            result = msgspec.json.decode(data, type=GroupResult)
        except msgspec.DecodeError:
            continue
        if result.paths <= here:
            found.append(result)
    return sorted(found, key=lambda one: sorted(one.paths))


def without_finished(paths: Iterable[str]) -> list[str]:
    """Files of broken-off writes but those that can be taken over."""
    listed = list(paths)
    finished = {path.rpartition("/")[0] for path in listed if path.endswith(f"/{NOTE}") and path.startswith(RUNS)}
    return [path for path in listed if path.rpartition("/")[0] not in finished]


def still_true(
    storage: LakeStorage, offered: Sequence[GroupResult], wanted: Mapping[LakeKey, LogTask], salt: str
) -> list[GroupResult]:
    """Those results whose sessions are all wanted, and as they were when they were read; each session once."""

    def known(result: GroupResult) -> RememberedSessions:
        return RememberedSessions.load(storage, [part.path for part in result.known])

    def is_true(told: RememberedSessions, key: LakeKey) -> bool:
        state = told.told(key, "state")  # empty where it could not be read, or grew: the next write looks at it again
        return key in told.keys and (not state or state == session_state(wanted[key], salt, told.told(key, "slug")))

    taken: set[LakeKey] = set()
    found: list[GroupResult] = []
    sound = [result for result in offered if all(map(is_part_path, result.paths))]
    likely = [result for result in sound if all(key in wanted for key in result.sessions)]
    for result, told in zip(likely, in_threads(known, likely), strict=True):
        if taken.isdisjoint(result.sessions) and all(is_true(told, key) for key in result.sessions):
            taken |= set(result.sessions)
            found.append(result)
    return found
