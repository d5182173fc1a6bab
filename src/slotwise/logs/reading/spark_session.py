"""Spark, started for a log or found running."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import ibis
from ibis.backends import BaseBackend

from slotwise.core.errors import MissingExtra, UnreadableFile
from slotwise.logs.reading.log_files import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: how long a Spark cluster may take to accept a connection
SECONDS_TO_ANSWER = 10.0
#: into how many parts Spark divides what it shuffles, on a cluster, at least; small parts are put together again
SPARK_PARTS = 200
JAVA = "Spark needs Java 17 or 21: apt-get install openjdk-17-jre-headless, or set JAVA_HOME"


@contextlib.contextmanager
def spark(master: str | None) -> Iterator[BaseBackend]:
    """A connection to Spark on this machine, or on a cluster; a session that runs already is used and left running."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("the engine spark", "spark") from None
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise UnreadableFile(JAVA)
    # Spark's Python workers run this interpreter, not the python3 of the path
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = SparkSession.getActiveSession()
    builder = (
        SparkSession.builder.appName("slotwise")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    if master is None or master.startswith("local"):
        # nobody else has to reach it
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
    else:
        # coalesce partitions by size: counts are small compared with the log
        builder = builder.config("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")
    if running is None:
        refuse_silence(master or "")
    try:
        session = running or builder.master(master or "local[*]").getOrCreate()
    except Exception as problem:
        raise UnreadableFile(
            f"Spark cannot be started on {master or 'this machine'}: {first_line(problem)}"
        ) from problem
    if running is None and not (master or "local").startswith("local"):
        divide_among_all(session)
    try:
        yield ibis.pyspark.connect(session)
    finally:
        if running is None:
            session.stop()


def divide_among_all(session: SparkSession) -> None:
    """Use every core of a cluster after a shuffle, unless its owner set the number of partitions."""
    context = session.sparkContext
    if not context.getConf().contains("spark.sql.shuffle.partitions"):
        session.conf.set("spark.sql.shuffle.partitions", str(max(SPARK_PARTS, 2 * context.defaultParallelism)))


def refuse_silence(master: str) -> None:
    """Refuse a cluster that nobody answers for; Spark would take more than a minute to find out."""
    refused = []
    for address in master.removeprefix("spark://").split(",") if master.startswith("spark://") else []:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
        except (OSError, ValueError) as problem:
            refused.append(f"{address} ({problem})")
        else:
            return
    if refused:
        raise UnreadableFile(
            f"no Spark cluster answers at {' or '.join(refused)}: is master right, and does the cluster run? Without "
            "master, Spark runs on this machine"
        )
