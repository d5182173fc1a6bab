"""`slotwise fit` on a standalone Spark cluster: a master and two workers, each a process, one of them killed."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyspark
import pytest

from benchmarks.logs import generate
from slotwise.logs.reading.spark_session import JAVA
from tests.commands import COMMAND, slotwise
from tests.service.process import free_port
from tests.waiting import FOR_EVER, wait_for

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ and "CI" not in os.environ, reason=JAVA
    ),
]

SPARK_CLASS = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
DEPLOY = "org.apache.spark.deploy"
#: so that the work lasts for many tasks on each worker
SETTINGS = """
spark.eventLog.enabled true
spark.eventLog.compress false
spark.eventLog.dir file:{folder}/events
spark.executor.memory 600m
spark.sql.files.maxPartitionBytes 100k
spark.sql.shuffle.partitions 8
spark.sql.files.openCostInBytes 0
spark.driver.host 127.0.0.1
"""


@contextlib.contextmanager
def running(folder: Path, name: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the cluster, in a group with those that it starts, as on a host of its own."""
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(folder)}
    with (folder / f"{name}.out").open("wb") as output, (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, as a host that loses its power does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def has_registered(log: Path) -> bool:
    return "Successfully registered" in log.read_text()


def answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1.0).close()
        return True
    return False


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    log, port = tmp_path / "log.parquet", free_port()
    generate(log, impressions=40_000, items=500)
    (tmp_path / "events").mkdir()
    (tmp_path / "spark-defaults.conf").write_text(SETTINGS.format(folder=tmp_path))
    alone = json.loads(slotwise("fit", str(log), "--json").stdout)

    master = f"spark://127.0.0.1:{port}"
    listening = ("--host", "127.0.0.1", "--webui-port", "0")
    with contextlib.ExitStack() as cluster:

        def start(name: str, *command: str) -> subprocess.Popen[bytes]:
            return cluster.enter_context(running(tmp_path, name, *command))

        start("master", SPARK_CLASS, f"{DEPLOY}.master.Master", *listening, "--port", str(port))
        wait_for(lambda: answers(port), "the master")
        workers = []
        for name in ("first", "second"):
            folder, size = str(tmp_path / name), ("--cores", "1", "--memory", "700m")
            workers.append(start(name, SPARK_CLASS, f"{DEPLOY}.worker.Worker", *listening, *size, "-d", folder, master))
        for name in ("first", "second"):
            wait_for(partial(has_registered, tmp_path / f"{name}.log"), f"the {name} worker")
        fit = start("fit", str(COMMAND), "fit", str(log), "--engine", "spark", "--master", master, "--json")
        # both have done a part of the work
        wait_for(lambda: fit.poll() is not None or len(executors_of_tasks(tmp_path)) == 2, "tasks on both workers")
        done = tasks(tmp_path)
        kill(workers[1])
        assert fit.wait(FOR_EVER) == 0, (tmp_path / "fit.log").read_text()
    together = json.loads((tmp_path / "fit.out").read_text())
    assert "SparkListenerExecutorRemoved" in events(tmp_path), "the worker was not missed"
    assert tasks(tmp_path) > done, "nothing was left to do"
    assert alike(together, alone)


def alike(one: object, other: object) -> bool:
    """Whether all counts are the same, and all estimates but for the last digits, which depend on the order of sums."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


def events(folder: Path) -> str:
    """What the driver noted about the work so far."""
    return "".join(path.read_text() for path in (folder / "events").rglob("*") if path.is_file())


def executors_of_tasks(folder: Path) -> set[str]:
    """The executors that have finished a task."""
    return set(re.findall(r'"Event":"SparkListenerTaskEnd".*"Executor ID":"(\d+)"', events(folder)))


def tasks(folder: Path) -> int:
    """The number of finished tasks."""
    return events(folder).count('"Event":"SparkListenerTaskEnd"')
