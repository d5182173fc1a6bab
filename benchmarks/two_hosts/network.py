"""Hosts as network namespaces on two switches, in a namespace of their own: nothing outside of them changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

HOSTS = ("database", "first", "second", "visitors")
#: each host has an interface on each switch: visitors come by one, the database is reached by the other
SWITCHES = {"front": "10.213.1", "back": "10.213.2"}


class Network:
    """Hosts and switches, whose cables can be pulled."""

    def __init__(self, name: str) -> None:
        self._name = name

    def command(self, host: str, command: Sequence[str]) -> list[str]:
        """A command, as it runs on a host."""
        return ["ip", "netns", "exec", self._namespace(host), *command]

    def address(self, host: str, switch: str) -> str:
        """The address of a host on a switch."""
        return f"{SWITCHES[switch]}.{HOSTS.index(host) + 1}"

    def cut(self, host: str, switches: Sequence[str]) -> None:
        """Drop everything between a host and switches, without a sign to either side."""
        for switch in switches:
            self._in_switches("link", "set", _port(switch, host), "nomaster")

    def heal(self, host: str, switches: Sequence[str]) -> None:
        """Connect a host to switches again."""
        for switch in switches:
            self._in_switches("link", "set", _port(switch, host), "master", switch)

    def create(self) -> None:
        """Create the namespaces, their interfaces and the switches."""
        for host in (*HOSTS, "switches"):
            _ip("netns", "add", self._namespace(host))
            _ip("-n", self._namespace(host), "link", "set", "lo", "up")
        for switch in SWITCHES:
            self._in_switches("link", "add", switch, "type", "bridge")
            self._in_switches("link", "set", switch, "up")
            for host in HOSTS:
                there, here = self._namespace(host), _port(switch, host)
                self._in_switches("link", "add", here, "type", "veth", "peer", "name", switch, "netns", there)
                self._in_switches("link", "set", here, "up", "master", switch)
                _ip("-n", there, "address", "add", f"{self.address(host, switch)}/24", "dev", switch)
                _ip("-n", there, "link", "set", switch, "up")

    def delete(self) -> None:
        """Delete the namespaces, and with them all interfaces."""
        for host in (*HOSTS, "switches"):
            subprocess.run(["ip", "netns", "delete", self._namespace(host)], check=False, capture_output=True)

    def _namespace(self, host: str) -> str:
        return f"{self._name}-{host}"

    def _in_switches(self, *arguments: str) -> None:
        _ip("-n", self._namespace("switches"), *arguments)


@contextmanager
def network() -> Iterator[Network]:
    """A network of its own for this process."""
    made = Network(f"slotwise-{os.getpid()}")
    try:
        made.create()
        yield made
    finally:
        made.delete()


def _port(switch: str, host: str) -> str:
    # names of interfaces have at most 15 characters
    return f"{switch}-{HOSTS.index(host)}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
