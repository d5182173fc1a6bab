"""Visitors, who ask one host or the other, and write down every answer: `python -m benchmarks.two_hosts.visitors`.

A visitor asks for a list, reports a click on the first slot of every third one, and nothing for the others. Without an
answer in time the other host is asked, with the same idempotency key.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VISITORS = 8
#: a service gives up on its store after 3 seconds
PATIENCE = 4.0
#: between two views of a visitor
PAUSE = 0.02


@dataclass
class Visitor:
    """One visitor, with a connection to each host."""

    number: int
    hosts: Sequence[str]
    key: str
    answers: list[dict[str, Any]] = field(default_factory=list)
    _connections: dict[str, http.client.HTTPConnection] = field(default_factory=dict)

    def visit(self, until: float) -> None:
        """View pages until a time."""
        preferred = itertools.cycle(self.hosts)
        for view in itertools.count(self.number):
            if time.time() > until:
                return
            first = next(preferred)
            others = [host for host in self.hosts if host != first]
            once = {"Idempotency-Key": f"{self.number}-{view}"}
            made = self._ask([first, *others], "POST", "/v1/placements/home/decisions", {}, once)
            if made is not None:
                self.answers.append({"decision": made["id"], "time": time.time(), "host": made["host"]})
                clicked = made["items"][0] if view % 3 == 0 else None
                path = f"/v1/decisions/{made['id']}/outcome"
                if (told := self._ask([first, *others], "PUT", path, {"clicked": clicked}, {})) is not None:
                    self.answers.append(
                        {"outcome": made["id"], "clicked": clicked, "time": time.time(), "host": told["host"]}
                    )
            time.sleep(PAUSE)

    def _ask(
        self, hosts: Sequence[str], method: str, path: str, body: object, more: dict[str, str]
    ) -> dict[str, Any] | None:
        """The first answer that a host gives; None if no host gives one."""
        headers = {"Authorization": f"Bearer {self.key}", **more}
        for host in hosts:
            began = time.time()
            try:
                connection = self._connection(host)
                connection.request(method, path, json.dumps(body), headers)
                response = connection.getresponse()
                answer = json.loads(response.read())
            except (OSError, http.client.HTTPException) as problem:
                self._connections.pop(host).close()
                self.answers.append({"failed": type(problem).__name__, "time": began, "host": host, "method": method})
                continue
            if response.status in (200, 201):
                return {**answer, "host": host}
            self.answers.append({"failed": response.status, "time": began, "host": host, "method": method})
        return None

    def _connection(self, host: str) -> http.client.HTTPConnection:
        if host not in self._connections:
            name, _, port = host.partition(":")
            self._connections[host] = http.client.HTTPConnection(name, int(port), timeout=PATIENCE)
        return self._connections[host]


def main(hosts: Sequence[str], key: str, until: float, out: Path) -> None:
    """Let all visitors view pages until a time, and write what they were answered."""
    everyone = [
        Visitor(number * 1_000_000, [*hosts[number % 2 :], *hosts[: number % 2]], key) for number in range(VISITORS)
    ]
    threads = [threading.Thread(target=visitor.visit, args=(until,)) for visitor in everyone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with out.open("w") as file:
        for answer in _in_order(everyone):
            file.write(json.dumps(answer) + "\n")


def _in_order(everyone: Sequence[Visitor]) -> Iterator[dict[str, Any]]:
    yield from sorted((answer for visitor in everyone for answer in visitor.answers), key=lambda answer: answer["time"])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[4:], sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]))
