"""What may stand between visitors and a service: it loses answers, or strips the keys off requests."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator
from typing import BinaryIO, Literal, cast
from urllib.parse import urlsplit

What = Literal["loses answers", "strips keys"]


class Meddler(socketserver.ThreadingTCPServer):
    """Passes requests on to a service, and meddles with those that have an Idempotency-Key."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, service: str, what: What, most: int) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        parts = urlsplit(service)
        self.service, self.what = (str(parts.hostname), int(parts.port or 80)), what
        #: keys whose first answer was lost, and how many there may be
        self.lost: set[bytes] = set()
        self._most = most

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def loses(self, head: bytes) -> bool:
        """Whether the answer to this request is lost: the first one to each key."""
        key = head.partition(b"Idempotency-Key: ")[2].partition(b"\r\n")[0]
        if self.what != "loses answers" or not key or key in self.lost or len(self.lost) >= self._most:
            return False
        self.lost.add(key)
        return True


class _Passing(socketserver.StreamRequestHandler):
    server: Meddler

    def handle(self) -> None:
        with socket.create_connection(self.server.service) as onward, onward.makefile("rb") as answers:
            while (request := _message(cast(BinaryIO, self.rfile))) is not None:
                if self.server.what == "strips keys":
                    request = request.replace(b"Idempotency-Key", b"X-Something-Els")
                onward.sendall(request)
                answer = _message(cast(BinaryIO, answers))
                if answer is None or self.server.loses(request):
                    return
                self.wfile.write(answer)


def _message(file: BinaryIO) -> bytes | None:
    head, length = b"", 0
    while True:
        line: bytes = file.readline()
        if not line:
            return None
        head += line
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
        if line == b"\r\n":
            body: bytes = file.read(length)
            return head + body


@contextlib.contextmanager
def meddling(service: str, what: What, most: int = 1000) -> Iterator[Meddler]:
    with Meddler(service, what, most) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
