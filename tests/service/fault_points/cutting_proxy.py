"""A proxy in front of PostgreSQL that forwards so many messages of the protocol, in either direction, and then cuts."""

from __future__ import annotations

import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_LENGTH: Final = struct.Struct(">I")
SOCKET: Final = ".s.PGSQL.5432"


class CuttingProxy:
    """Listens on a socket of its own; `cut_after` counts messages from when it is set."""

    def __init__(self, server: Path, folder: Path) -> None:
        self._server = server / SOCKET
        self._lock = threading.Lock()
        self._left: int | None = None
        self.messages = 0
        self.has_cut = False
        #: what a test reads is not part of a history
        self.is_counting = True
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen()
        self._sockets = [self._listener]
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut_after(self, messages: int) -> None:
        with self._lock:
            self._left, self.messages, self.has_cut = messages, 0, False

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        self._threads.append(threading.Thread(target=target, args=arguments, daemon=True))
        self._threads[-1].start()

    def close(self) -> None:
        for end in [*self._sockets]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._sockets:
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._sockets += [client, server]
                server.connect(str(self._server))
                for source, target, is_client in ((client, server, True), (server, client, False)):
                    self._start(self._pump, source, target, is_client)

    def _pump(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError, EOFError):
            # the first message of a client has no type
            has_type = not is_client
            while True:
                head = _read(source, 5 if has_type else 4)
                (length,) = _LENGTH.unpack(head[-4:])
                target.sendall(head + _read(source, length - 4))
                has_type = True
                if self._is_cut():
                    break
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _is_cut(self) -> bool:
        with self._lock:
            self.messages += self.is_counting
            if self.has_cut or self._left is None or self.messages != self._left:
                return False
            self.has_cut = True
            return True


def _read(source: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        part = source.recv(size - len(content))
        if not part:
            raise EOFError
        content += part
    return content


@contextmanager
def cutting(server: Path) -> Iterator[tuple[CuttingProxy, str]]:
    """A proxy and the address of the database behind it."""
    with tempfile.TemporaryDirectory(prefix="cut") as folder:
        proxy = CuttingProxy(server, Path(folder))
        try:
            yield proxy, f"postgresql://postgres@/postgres?host={folder}"
        finally:
            proxy.close()
