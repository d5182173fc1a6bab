"""The message of `slotwise serve` at a terminal: addresses, and the next step."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from slotwise.service.service_settings import Settings
from slotwise.service.storage.sqlite import PREFIX, path_of

#: placements that the message names
MAX_NAMED: Final = 5


def greeting(settings: Settings, port: int, placements: Mapping[str, int]) -> str:
    """Return the message; `placements` has the number of decisions of each placement."""
    url = address(settings.host, port)
    return "\n".join(
        [
            "",
            f"slotwise is at {url}{_reach(settings.host)}",
            "",
            f"  dashboard  {url}/",
            f"  API        {url}/docs",
            f"  store      {_store(settings.store.get_secret_value())}",
            f"  API key    {_key(settings)}",
            "",
            *_next(url, placements, has_key=settings.key is not None),
            "",
            "Ctrl-C stops it. Acknowledged decisions and outcomes are on disk.",
            "",
        ]
    )


def address(host: str, port: int) -> str:
    """Return the URL for a browser on this machine.

    >>> address("0.0.0.0", 8000), address("::1", 8000), address("shop.example", 80)
    ('http://127.0.0.1:8000', 'http://[::1]:8000', 'http://shop.example:80')
    """
    name = host.strip("[]")
    if _is_everywhere(name):
        name = "::1" if ":" in name else "127.0.0.1"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _reach(host: str) -> str:
    return ", and at all other addresses of this machine" if _is_everywhere(host) else ""


def _store(url: str) -> str:
    if url.startswith(PREFIX):
        return f"the file {path_of(url).resolve()}"
    parts = urlsplit(url)
    # without the user and the password
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _key(settings: Settings) -> str:
    if settings.key is None:
        return "none, so only requests of this machine are allowed; SLOTWISE_SERVER_KEY sets one"
    return "set; requests must send it, and the dashboard asks for it"


def _next(url: str, placements: Mapping[str, int], *, has_key: bool) -> list[str]:
    # the shell inserts the variable
    header = ' -H "Authorization: Bearer $SLOTWISE_SERVER_KEY"' if has_key else ""
    if not placements:
        return [
            "There is no placement yet. Create one:",
            f"  curl -X PUT {url}/v1/placements/home{header} "
            """-d '{"slots": 2, "items": ["tea", "coffee", "juice"]}'""",
        ]
    name, decisions = max(placements.items(), key=lambda pair: pair[1])
    named = ", ".join([*placements][:MAX_NAMED]) + (", …" if len(placements) > MAX_NAMED else "")
    summary = f"{len(placements):,} placement{'s' if len(placements) > 1 else ''}: {named}."
    if decisions:
        return [summary, f"{decisions:,} decisions so far in {name}."]
    return [
        f"{summary} There are no decisions yet, so the dashboard is empty. Request one:",
        f"  curl -X POST {url}/v1/placements/{quote(name, safe='')}/decisions{header}",
        "and report its outcome with the token of the response:",
        f'  curl -X POST {url}/v1/outcomes -d \'{{"token": "TOKEN", "clicked": "ITEM"}}\'',
        "Or watch simulated visitors do both: slotwise demo",
    ]
