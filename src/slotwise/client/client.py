"""All that a service can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Self
from urllib.parse import quote, urlencode

from slotwise.client.transport import Asking
from slotwise.core.errors import InvalidInput, ServiceProblem, ServiceUnreachable


class _NotGiven:
    """The default of `clicked`, where None says that nothing was."""


_NOT_GIVEN: Final = _NotGiven()


@dataclass(frozen=True, slots=True)
class Decision:
    """What to show to one visitor, the first slot's item first, and until when its outcome counts."""

    id: str
    placement: str
    items: tuple[str, ...]
    arm: Literal["learned", "holdout", "shadow"]
    expires: datetime
    #: lets a browser report the outcome of this decision, and nothing else
    token: str


class Client:
    """Asks a service, over connections that stay open; one client serves any number of threads.

    A request that fails is repeated up to `retries` times, after waits that double and vary at random, or as long as
    the service asks. Placements and outcomes are safe to send again, so every failure is worth another
    try: no connection, no answer, 429, 502, 503, 504. A decision is not: had the first one been issued, it would wait
    for an outcome that never comes, and be counted as a list that somebody saw and did not click on. `decide` is
    therefore repeated only where none can have been issued: no connection was made, or the service said 429 or 503.
    With a `key` it is repeated as the others are.

    Refusals raise `ServiceProblem`, which carries the service's problem document; `ServiceUnreachable` is raised when
    there was no answer.

        client = Client("http://127.0.0.1:8000", key="…")
        client.put_placement("home", slots=3, items=["a", "b", "c", "d"])
        decision = client.decide("home", exclude=["d"])
        client.outcome(decision, clicked=decision.items[0])
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 10.0, retries: int = 4) -> None:
        self._asking = Asking(url, key, timeout, retries)

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._asking.url

    def put_placement(
        self,
        name: str,
        *,
        slots: int,
        items: Iterable[str | Mapping[str, Any]],
        policy: str | None = None,
        window_seconds: float | Mapping[str, float] = 1800.0,
        holdout: float = 0.0,
        position_bias: Iterable[float] | None = None,
        segments: Mapping[str, Iterable[str]] | None = None,
        memory: Literal["auto"] | Mapping[str, float] | None = None,
        values: Literal["learned"] | None = None,
        mode: Literal["live", "frozen", "shadow"] = "live",
        pin: Mapping[str, int] | None = None,
        new_items_at_most: float | None = None,
        sticky_seconds: float | None = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Create a placement, or replace all of it: what is left out here gets its default, and no item stays.

        An item is a name, or {"id": name, "value": …, "features": {…}}. With a `version`, as `version` tells it, only
        where the placement is at it, 0 being that there is none; otherwise the problem's status is 412.
        """
        definition: dict[str, Any] = {
            "slots": slots,
            "items": list(items),
            "policy": policy,
            "window_seconds": window_seconds,
            "holdout": holdout,
            "position_bias": None if position_bias is None else list(position_bias),
        }
        # only what is used: an older service knows nothing of the rest
        more: dict[str, Any] = {"memory": memory, "values": values, "sticky_seconds": sticky_seconds, "pin": pin}
        if mode != "live":
            more["mode"] = mode
        if new_items_at_most is not None:
            definition["new_items_at_most"] = new_items_at_most
        more["segments"] = {key: list(listed) for key, listed in (segments or {}).items()}
        definition.update({name: value for name, value in more.items() if value})
        return self._change("PUT", name, definition, version)

    def patch_placement(self, name: str, changes: Mapping[str, Any], *, version: int | None = None) -> dict[str, Any]:
        """Change the fields that are named, None being the default, and leave the others; a list replaces a list."""
        return self._change("PATCH", name, dict(changes), version)

    def put_item(
        self,
        placement: str,
        item: str,
        *,
        value: float | None = None,
        features: Mapping[str, float | str] | None = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Add an item, or replace what is said of one."""
        settings = {"value": value, "features": dict(features or {})}
        said = {name: setting for name, setting in settings.items() if setting}
        return self._change("PUT", placement, said, version, f"/items/{_quoted(item)}")

    def retire_item(self, placement: str, item: str, *, version: int | None = None) -> dict[str, Any]:
        """Show an item no more; what was learned of it stays. Status 404 where there is none."""
        return self._change("DELETE", placement, None, version, f"/items/{_quoted(item)}")

    def delete_placement(self, name: str, *, version: int | None = None) -> None:
        """Delete a placement for good, with its decisions, its tally and its counters."""
        self._change("DELETE", name, None, version, f"?confirm={_quoted(name)}")

    def version(self, name: str) -> int:
        """The version that a placement is at, for a change that must not undo another; 0 where there is none."""
        try:
            answer = self._asking.answer("GET", f"/v1/placements/{_quoted(name)}")
            return int(answer.etag.strip('"'))
        except ServiceProblem as problem:
            if problem.status == 404:
                return 0
            raise
        except ValueError:
            raise ServiceUnreachable(f"{self.url} does not answer as slotwise does") from None

    def changes(self, name: str) -> list[dict[str, Any]]:
        """What changed in a placement's definition and when, the newest first."""
        return _listed(self._asking.ask("GET", f"/v1/placements/{_quoted(name)}/changes"), "changes")

    def _change(self, method: str, name: str, content: Any, version: int | None, rest: str = "") -> dict[str, Any]:
        headers = {}
        if version is not None:
            headers = {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}
        # at a version, or of what must be there, a second time is refused though the first was done
        again = version is None and method != "DELETE"
        return self._asking.ask(method, f"/v1/placements/{_quoted(name)}{rest}", content, again=again, headers=headers)

    def placements(self) -> list[dict[str, Any]]:
        """Every placement, without its items."""
        return _listed(self._asking.ask("GET", "/v1/placements"), "placements")

    def placement(self, name: str) -> dict[str, Any]:
        """A placement as it was put."""
        return self._asking.ask("GET", f"/v1/placements/{_quoted(name)}")

    def decide(
        self,
        placement: str,
        exclude: Iterable[str] = (),
        pin: Mapping[str, int] | None = None,
        context: Mapping[str, str] | None = None,
        *,
        visitor: str | None = None,
        key: str | None = None,
    ) -> Decision:
        """What to show to one visitor, of whom `context` says what is known; slots in `pin` count from 1.

        Where the placement is sticky, the same `visitor` sees the same list. With a `key` that is new for each page
        view, the same key is the same decision, so that the request is repeated like any other.
        """
        wish: dict[str, Any] = {"exclude": list(exclude), "pin": dict(pin or {})}
        if context:
            wish["context"] = dict(context)
        if visitor is not None:
            wish["visitor"] = visitor
        headers = {} if key is None else {"Idempotency-Key": _key(key)}
        path = f"/v1/placements/{_quoted(placement)}/decisions"
        found = self._asking.ask("POST", path, wish, again=key is not None, headers=headers)
        try:
            return Decision(
                id=found["id"],
                placement=found["placement"],
                items=tuple(found["items"]),
                arm=found["arm"],
                expires=datetime.fromisoformat(found["expires"]),
                token=found["token"],
            )
        except (KeyError, TypeError, ValueError):
            raise ServiceUnreachable(f"{self.url} does not answer as slotwise does") from None

    def outcome(
        self,
        decision: Decision | str,
        *,
        clicked: str | Sequence[str] | _NotGiven | None = _NOT_GIVEN,
        shown: bool = True,
        value: float | None = None,
    ) -> bool:
        """Report what came of a decision: `clicked=item`, `clicked=None` or `shown=False`; True if that was known.

        Several clicks are given in their order, of which the first counts; `value` is what the click brought.

        A `ServiceProblem` of status 409 says that another outcome stands, 410 that the deadline has passed.
        The latter can also be the answer to a repetition whose first try was recorded in time.
        """
        if shown == isinstance(clicked, _NotGiven):
            raise InvalidInput("an outcome is either clicked=ITEM, clicked=None or shown=False")
        id = decision.id if isinstance(decision, Decision) else decision
        body: dict[str, Any] = {"shown": False}
        if not isinstance(clicked, _NotGiven):
            body = {"clicked": clicked if clicked is None or isinstance(clicked, str) else list(clicked)}
        if value is not None:
            body["value"] = value
        return bool(self._asking.ask("PUT", f"/v1/decisions/{_quoted(id)}/outcome", body).get("duplicate"))

    def decision(self, id: str) -> dict[str, Any]:
        """A decision as it was made, and what has become of it; status 404 where there is none."""
        return self._asking.ask("GET", f"/v1/decisions/{_quoted(id)}")

    def estimates(
        self,
        placement: str,
        segment: Mapping[str, str] | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        period: str | None = None,
    ) -> dict[str, Any]:
        """What is known of a placement's items and slots, and what became of its decisions, for all or a segment.

        The uplift is since the start, or between two times, or over a period as in 24h, 7d and 4w.
        """
        asked = [("segment", f"{key}:{value}") for key, value in (segment or {}).items()]
        asked += [(name, time.isoformat()) for name, time in (("since", since), ("until", until)) if time is not None]
        asked += [("period", period)] if period is not None else []
        query = urlencode(asked)
        return self._asking.ask("GET", f"/v1/placements/{_quoted(placement)}/estimates{'?' if query else ''}{query}")

    def history(
        self,
        placement: str,
        by: Literal["hour", "day"] = "day",
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> dict[str, Any]:
        """What happened to a placement by hour or by day, in UTC; by default in the last 7 or 90 days."""
        times = {"since": since, "until": until}
        query = {"by": by} | {
            name: time.isoformat() if isinstance(time, datetime) else time for name, time in times.items() if time
        }
        return self._asking.ask("GET", f"/v1/placements/{_quoted(placement)}/history?{urlencode(query)}")

    def close(self) -> None:
        """Let go of the connections."""
        self._asking.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _key(key: str) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isascii() or not key.isprintable():
        raise InvalidInput(f"key must be 1 to 200 printable characters of ASCII, got {key!r}")
    return key


def _quoted(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"a name must be text, got {name!r}")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise InvalidInput(f"a name must be text, got {name!r}") from None


def _listed(found: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    return list(found.get(field, ()))
