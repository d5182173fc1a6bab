"""The service on two hosts with one PostgreSQL: partitions and their healing under traffic, and a check of the counts.

Hosts are network namespaces, so root is needed, and the package iproute2. No packet leaves this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.postgresql_server import postgresql
from benchmarks.two_hosts.accounting import differences, read
from benchmarks.two_hosts.network import SWITCHES, Network, network

PORT, KEY = 8000, "two-hosts"
SERVED = ("first", "second")
#: seconds; shorter than a partition, so that deadlines pass during one
WINDOW = 3.0
ITEMS, SLOTS = 12, 4
#: how long processes may take to start, and the last decisions to be counted
PATIENCE = 600.0
#: what is cut from what, one after the other, each healed before the next
PARTITIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("the first host loses the database", "first", ("back",)),
    ("the second host loses everything", "second", ("back", "front")),
    ("both hosts lose the database", "database", ("back",)),
)


def main() -> int:
    """Run the phases, and print what happened in each and whether the counts agree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_hosts", description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="length of each phase")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    if os.geteuid() or shutil.which("ip") is None:
        raise SystemExit("network namespaces need root, and the command ip of the package iproute2")
    # ends as by Ctrl-C, so that no namespace stays behind
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="slotwise") as folder, network() as hosts:
        os.chmod(folder, 0o755)
        database = postgresql(
            Path(folder),
            hosts.address("database", "back"),
            f"{SWITCHES['back']}.0/24",
            lambda command: hosts.command("database", command),
        )
        with database as (url, _), contextlib.ExitStack() as services:
            for host in SERVED:
                services.enter_context(service(hosts, host, Path(folder)))
            report = partitioned(hosts, Path(folder), url, arguments.seconds)
    print(json.dumps(report) if arguments.json else _text(report))
    return int(bool(report["differences"]))


@contextlib.contextmanager
def service(hosts: Network, host: str, folder: Path) -> Iterator[None]:
    """`slotwise serve` on a host."""
    told = {
        **os.environ,
        "SLOTWISE_STORE": f"postgresql://postgres@{hosts.address('database', 'back')}/postgres",
        "SLOTWISE_SERVER_KEY": KEY,
        "SLOTWISE_LOG_LEVEL": "error",
    }
    serve = [sys.executable, "-c", "from slotwise.cli import main; main()", "serve"]
    serve += ["--host", hosts.address(host, "front"), "--port", str(PORT)]
    with (folder / f"{host}.log").open("wb") as log:
        process = subprocess.Popen(hosts.command(host, serve), env=told, cwd=folder, stdout=log, stderr=log)
    try:
        _wait(lambda: _status(hosts, host, "/readyz") == 200, f"the service on the {host} host", process)
        yield
    finally:
        process.terminate()
        process.wait()


def partitioned(hosts: Network, folder: Path, url: str, seconds: float) -> dict[str, Any]:
    """Let visitors ask both hosts while cables are pulled and connected again, and count."""
    placement = {"slots": SLOTS, "items": [f"item-{number}" for number in range(ITEMS)], "window_seconds": WINDOW}
    assert _status(hosts, "first", "/v1/placements/home", placement) == 201
    answers, end = folder / "answers.jsonl", time.time() + seconds * (2 * len(PARTITIONS) + 1)
    asked = [f"{hosts.address(host, 'front')}:{PORT}" for host in SERVED]
    command = [sys.executable, "-m", "benchmarks.two_hosts.visitors", KEY, str(end), str(answers), *asked]
    visitors = subprocess.Popen(hosts.command("visitors", command))
    phases = [("all connected", time.time())]
    time.sleep(seconds)
    for what, host, switches in PARTITIONS:
        hosts.cut(host, switches)
        phases.append((what, time.time()))
        time.sleep(seconds)
        hosts.heal(host, switches)
        phases.append(("healed", time.time()))
        time.sleep(seconds)
    visitors.wait(PATIENCE)
    # the last deadlines pass, and both workers see it
    time.sleep(WINDOW)
    _wait(lambda: all(row[4] for row in read(url)[0]), "the last decisions to be counted")
    told = [json.loads(line) for line in answers.read_text().splitlines()]
    decisions, tally = read(url)
    return {
        "phases": [
            {"phase": what, "seconds": until - since, **_counted([one for one in told if since <= one["time"] < until])}
            for (what, since), (_, until) in zip(phases, [*phases[1:], ("", float("inf"))], strict=True)
        ],
        "decisions": sum("decision" in one for one in told),
        "outcomes": sum("outcome" in one for one in told),
        "stored": len(decisions),
        "differences": differences(told, decisions, tally),
    }


def _counted(told: list[dict[str, Any]]) -> dict[str, Any]:
    failed = Counter(str(one["failed"]) for one in told if "failed" in one)
    hosts = Counter(one["host"] for one in told if "failed" not in one)
    kinds = {kind: sum(kind in one for one in told) for kind in ("decision", "outcome")}
    return {**kinds, "failed": dict(failed), "by_host": dict(sorted(hosts.items()))}


def _text(report: dict[str, Any]) -> str:
    lines = [
        "| phase | decisions | outcomes | answers of the first, of the second host | refused or unanswered |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for phase in report["phases"]:
        hosts = phase["by_host"]
        failed = ", ".join(f"{count:,} × {what}" for what, count in sorted(phase["failed"].items())) or "none"
        answered = ", ".join(f"{count:,}" for count in hosts.values()) or "none"
        lines.append(f"| {phase['phase']} | {phase['decision']:,} | {phase['outcome']:,} | {answered} | {failed} |")
    lines += [
        "",
        f"{report['decisions']:,} decisions and {report['outcomes']:,} outcomes acknowledged, "
        f"{report['stored']:,} decisions stored;",
        *(report["differences"] or ["nothing that was acknowledged is lost, everything is counted once"]),
    ]
    return "\n".join(lines)


def _status(hosts: Network, host: str, path: str, body: object = None) -> int:
    """The status of a request from the visitors' host."""
    script = (
        "import sys, urllib.request, urllib.error\n"
        "try:\n"
        "    url, body, key = sys.argv[1:]\n"
        "    method = 'PUT' if body else 'GET'\n"
        "    request = urllib.request.Request(url, body.encode() or None, {'Authorization': key}, method=method)\n"
        "    print(urllib.request.urlopen(request, timeout=10).status)\n"
        "except urllib.error.HTTPError as problem: print(problem.code)\n"
        "except OSError: print(0)\n"
    )
    url, text = f"http://{hosts.address(host, 'front')}:{PORT}{path}", "" if body is None else json.dumps(body)
    command = hosts.command("visitors", [sys.executable, "-c", script, url, text, f"Bearer {KEY}"])
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _wait(condition: Any, what: str, process: subprocess.Popen[bytes] | None = None) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > give_up or (process is not None and process.poll() is not None):
            raise SystemExit(f"waited in vain for {what}")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
