"""Rules on network addresses: which ones are of this machine, and which ones are of one network."""

from __future__ import annotations

import ipaddress
from typing import Final

from pydantic_core import PydanticCustomError

#: a site has at least a network of this size to itself (RFC 6177), and its machines change addresses within it
IPV6_NETWORK: Final = 64


def checked_address(address: str) -> str:
    """The IP address of a visitor, if it is one."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise PydanticCustomError("address", "must be an IP address, such as 203.0.113.7 or 2001:db8::7") from None
    return address


def network_of(address: str) -> str:
    """The network whose decisions are counted together: an IPv4 address, or the first half of an IPv6 address.

    >>> network_of("203.0.113.7"), network_of("2001:db8:1:2::7"), network_of("::ffff:203.0.113.7")
    ('203.0.113.7', '2001:db8:1:2::', '203.0.113.7')
    """
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found), IPV6_NETWORK), strict=False).network_address)
    return str(found)


def is_loopback(host: str) -> bool:
    """Whether a host is reachable from this machine only.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
