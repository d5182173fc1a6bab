"""What `slotwise serve` tells a person who started it at a terminal: where everything is, and what to do next."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from slotwise.service.service_settings import Settings
from slotwise.service.storage.sqlite import PREFIX, path_of

#: placements that are named
MAX_NAMED: Final = 5


def greeting(settings: Settings, port: int, placements: Mapping[str, int]) -> str:
    """Several lines of text; `placements` says how many decisions there were in each."""
    url = address(settings.host, port)
    return "\n".join(
        [
            "",
            f"slotwise is at {url}{_reach(settings.host)}",
            "",
            f"  dashboard  {url}/",
            f"  requests   {url}/docs, to try each of them out",
            f"  store      {_store(settings.store.get_secret_value())}",
            f"  key        {_key(settings)}",
            "",
            *_next(url, placements, has_key=settings.key is not None),
            "",
            "Ctrl-C stops it. Nothing that it has acknowledged is lost.",
            "",
        ]
    )


def address(host: str, port: int) -> str:
    """Where a browser on this machine finds it.

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
    return ", and at every other address of this machine" if _is_everywhere(host) else ""


def _store(url: str) -> str:
    if url.startswith(PREFIX):
        return f"the file {path_of(url).resolve()}"
    parts = urlsplit(url)
    # without the user and the password
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _key(settings: Settings) -> str:
    if settings.key is None:
        return "none, so only this machine is served; SLOTWISE_SERVER_KEY sets one"
    return "set, and requests must carry it; the dashboard asks for it"


def _next(url: str, placements: Mapping[str, int], *, has_key: bool) -> list[str]:
    # the shell puts it in, if it is there
    carried = ' -H "Authorization: Bearer $SLOTWISE_SERVER_KEY"' if has_key else ""
    if not placements:
        return [
            "There is no placement yet. Make one:",
            f"  curl -X PUT {url}/v1/placements/home{carried} "
            """-d '{"slots": 2, "items": ["tea", "coffee", "juice"]}'""",
        ]
    name, decisions = max(placements.items(), key=lambda pair: pair[1])
    named = ", ".join([*placements][:MAX_NAMED]) + (", …" if len(placements) > MAX_NAMED else "")
    said = [f"{len(placements):,} placement{'s' if len(placements) > 1 else ''}: {named}."]
    if decisions:
        return [*said, f"{decisions:,} decisions so far in {name}."]
    return [
        f"{said[0]} Nothing was decided yet, so the dashboard is empty. Ask what to show:",
        f"  curl -X POST {url}/v1/placements/{quote(name, safe='')}/decisions{carried}",
        "and report what was clicked with the token of the answer:",
        f'  curl -X POST {url}/v1/outcomes -d \'{{"token": "TOKEN", "clicked": "ITEM"}}\'',
        "Or watch simulated visitors do both, in a shop that is made up: slotwise demo",
    ]
