"""Real servers on loopback for the tests of a hub: a PostgreSQL and an S3-compatible object store.

Each worker of pytest starts its own, when the first test asks, in a folder that goes away with it. A server ends with
the process that started it, however that ends. Where a program is missing its tests skip, but never in CI.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from unspool.hub.store.connect import StorePlace
from unspool.hub.store.postgres import Postgres
from unspool.hub.store.schema import migrate

KEY, SECRET, BUCKET = "hub-tests", "not-a-secret", "hub"
_USERS = ("postgres", "nobody")
_START = 120.0
"""Seconds that a server may take to answer."""
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # a server that is killed loses nothing by this, only a machine does
    "full_page_writes": "off",
    "max_connections": "120",
    "autovacuum": "off",
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
}
_ALONE = b"""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""
_EMPTY = b"""DO $$ DECLARE one RECORD; BEGIN
FOR one IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'setting' LOOP
EXECUTE format('DELETE FROM %I', one.name);
END LOOP;
DELETE FROM setting WHERE key <> 'version';
END $$"""
_ATTENDED = '"$@" </dev/null & server=$!; read -r _; kill -s "$HOW" "$server"; wait "$server"'
"""A shell that ends its server when its own standard input ends."""


class Server:
    """A program that serves, in a process of its own."""

    def __init__(self, command: list[str], answers: Callable[[], bool], user: str | None = None) -> None:
        self._command, self._answers, self._user = command, answers, user
        self._attendant: subprocess.Popen[bytes] | None = None
        self._log = Path(tempfile.mkstemp(prefix="unspool-server-", suffix=".log")[1])

    def start(self, how: str = "INT") -> None:
        """Start, and wait until it answers; `how` is the signal that it ends by."""
        with self._log.open("ab") as log:
            self._attendant = subprocess.Popen(
                ["/bin/sh", "-c", _ATTENDED, "sh", *self._command],
                stdin=subprocess.PIPE, stdout=log, stderr=log, user=self._user, cwd="/",
                group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
                env={"HOW": how, "PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent"},
            )  # fmt: skip
        patient(self._answers, self._said)

    def stop(self) -> None:
        """End it, and wait until it has."""
        if self._attendant is not None:
            assert self._attendant.stdin is not None
            self._attendant.stdin.close()
            self._attendant.wait(_START)
            self._attendant = None

    def restart(self) -> None:
        """End it and start it again, in the same place."""
        self.stop()
        self.start()

    def forget(self) -> None:
        """End it for good."""
        self.stop()
        self._log.unlink()

    def _said(self) -> str:
        return f"{self._command[0]} does not answer:\n{self._log.read_text(errors='replace')[-3000:]}"


class Postgresql(Server):
    """A PostgreSQL that can be reached through a socket in its folder alone."""

    def __init__(self, programs: Path, **settings: str) -> None:
        user = _unprivileged()
        self.folder = _own_folder(user)
        wanted = [f"-c{name}={value}" for name, value in {**_SETTINGS, **settings}.items()]
        super().__init__(
            [str(programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), *wanted],
            self._answering,
            user,
        )
        _initialised(programs, self.folder / "data", user)
        self.start()
        self._clean: list[str] = []

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://hub@/{database}?host={self.folder}"

    def run(self, sql: str) -> None:
        """Do something as its owner."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def fresh(self, *, tables: bool = True) -> str:
        """The name of a new database, with the hub's tables or nothing in it."""
        if tables and self._clean:
            return self._clean.pop()
        name = f"hub_{secrets.token_hex(8)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0")
        if tables:
            db = Postgres(self.url(name))
            migrate(db)
            db.close()
        return name

    def used(self, database: str) -> None:
        """A database with the hub's tables is no more needed: emptied, which is quicker than a new one."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(_ALONE)
            connection.execute(_EMPTY)
        self._clean.append(database)

    def drop(self, database: str) -> None:
        """Remove a database, whoever is still connected."""
        self.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def kill(self) -> None:
        """End it as a crash does, and wait until nothing of it is left."""
        number = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        with psycopg.connect(self.url("postgres")) as connection:
            parts = [pid for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity").fetchall()]
        os.kill(number, signal.SIGKILL)
        self.stop()
        patient(lambda: not any(map(_lives, parts)), lambda: "parts of a killed PostgreSQL live on")

    def forget(self) -> None:
        """End it for good, and all it kept."""
        super().forget()
        shutil.rmtree(self.folder)

    def _answering(self) -> bool:
        with suppress(psycopg.OperationalError):
            self.run("SELECT 1")
            return True
        return False


class ObjectServer(Server):
    """An S3-compatible store of one bucket."""

    def __init__(self, program: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="unspool-s3-"))
        self.bucket = self.folder / BUCKET
        self.bucket.mkdir()
        self.port = free_port()
        super().__init__(
            [str(program), "serve", "s3", str(self.folder), "--addr", f"127.0.0.1:{self.port}",
             "--auth-key", f"{KEY},{SECRET}", "--config", os.devnull, "--cache-dir", str(self.folder / ".cache")],
            self._answering,
        )  # fmt: skip
        self.start()

    def start(self, how: str = "KILL") -> None:
        """Start, and wait until it answers."""
        super().start(how)

    def url(self, prefix: str) -> str:
        """The address of a part of the bucket."""
        return f"s3://{BUCKET}/{prefix}?endpoint=http://127.0.0.1:{self.port}&region=us-east-1"

    def forget(self) -> None:
        """End it for good, and all it kept."""
        super().forget()
        shutil.rmtree(self.folder)

    def _answering(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


class Servers:
    """The two of them, and places for hubs on them."""

    def __init__(self, postgresql: Postgresql, s3: ObjectServer) -> None:
        self.postgresql, self.s3 = postgresql, s3

    @contextmanager
    def place(self, folder: Path, *, tables: bool = True) -> Iterator[StorePlace]:
        """A place of its own for a hub, with the hub's tables or empty."""
        name = self.postgresql.fresh(tables=tables)
        prefix = secrets.token_hex(8)
        try:
            yield StorePlace(folder, self.postgresql.url(name), self.s3.url(prefix))
        finally:
            (self.postgresql.used if tables else self.postgresql.drop)(name)
            shutil.rmtree(self.s3.bucket / prefix, ignore_errors=True)


@contextmanager
def serving() -> Iterator[Servers]:
    """Both servers, until the end of the block."""
    postgresql = Postgresql(postgresql_programs())
    try:
        s3 = ObjectServer(rclone())
        try:
            yield Servers(postgresql, s3)
        finally:
            s3.forget()
    finally:
        postgresql.forget()


def postgresql_programs() -> Path:
    """The folder with PostgreSQL's programs."""
    named = os.environ.get("UNSPOOL_POSTGRES")
    found = [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_major, reverse=True)
    for folder in found:
        if os.access(folder / "postgres", os.X_OK) and os.access(folder / "initdb", os.X_OK):
            return folder
    return _missing("PostgreSQL")


def rclone() -> Path:
    """The program that serves objects."""
    place = Path(sys.executable).with_name("rclone")
    return place if os.access(place, os.X_OK) else _missing("rclone")


def patient(answers: Callable[[], bool], said: Callable[[], str], seconds: float = _START) -> None:
    """Wait until something holds; fail with what is said where it does not in time."""
    end = time.monotonic() + seconds
    while not answers():
        if time.monotonic() > end:
            pytest.fail(said())
        time.sleep(0.02)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number: int = taken.getsockname()[1]
        return number


def _missing(what: str) -> Path:
    if os.environ.get("CI"):
        pytest.fail(f"no {what}: the tests of a hub on servers are never skipped in CI")
    pytest.skip(f"no {what}: scripts/test installs it where it can")


def _major(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


def _unprivileged() -> str | None:
    """A user to run a database as, which refuses to be run by root; None where we are not root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _USERS if name in known)


def _own_folder(user: str | None) -> Path:
    """A folder that belongs to a user; its path is short, as that of a socket must be."""
    folder = Path(tempfile.mkdtemp(prefix="unspool-pg-"))
    if user is not None:
        shutil.chown(folder, user)
    return folder


def _initialised(programs: Path, data: Path, user: str | None) -> None:
    """A new cluster's files."""
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "hub", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
        check=True, user=user, capture_output=True, cwd="/",
        group=None if user is None else pwd.getpwnam(user).pw_gid,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent"},
    )  # fmt: skip
