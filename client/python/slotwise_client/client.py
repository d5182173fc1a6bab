"""The client: placements, decisions, outcomes and estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Self
from urllib.parse import quote, urlencode

from slotwise_client.client_errors import InvalidRequest, ServiceProblem, ServiceUnreachable
from slotwise_client.transport import JsonObject, JsonValue, Transport


class _NotGiven:
    """The default of `clicked`, as None means that nothing was clicked."""


_NOT_GIVEN: Final = _NotGiven()


@dataclass(frozen=True, slots=True)
class Decision:
    """A list for one view, first slot first, with the deadline of its outcome.

    Parameters
    ----------
    id
        id of the decision
    placement
        name of the placement
    items
        the list, first slot first
    arm
        "learned", "holdout" or "shadow"
    expires
        deadline of the outcome
    token
        authorises a browser to report the outcome of this decision

    """

    id: str
    placement: str
    items: tuple[str, ...]
    arm: Literal["learned", "holdout", "shadow"]
    expires: datetime
    token: str


class Client:
    """A client of one service, with persistent connections; it is thread-safe.

    A failed request is retried with exponential backoff and jitter, or after the service's `Retry-After`. Requests for
    placements and outcomes are idempotent, so they are retried after every failure: no connection, no response, 429,
    502, 503 and 504. A decision is not idempotent: a decision whose response was lost would wait for an outcome, and
    count as a view without a click. `decide` is therefore retried only if no decision was issued (no connection, 429
    or 503), or with an idempotency key.

    A rejected request raises `ServiceProblem`; a missing response raises `ServiceUnreachable`.

        client = Client("http://127.0.0.1:8000", key="…")
        client.put_placement("home", slots=3, items=["a", "b", "c", "d"])
        decision = client.decide("home", exclude=["d"])
        client.outcome(decision, clicked=decision.items[0])

    Parameters
    ----------
    url
        address of the service
    key
        API key of the service
    timeout
        seconds to wait for a response
    retries
        maximum number of retries of a request

    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 10.0, retries: int = 4) -> None:
        self._transport = Transport(url, key, timeout, retries)

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._transport.url

    def put_placement(
        self,
        name: str,
        *,
        slots: int,
        items: Iterable[str | Mapping[str, JsonValue]],
        policy: str | None = None,
        window_seconds: float | Mapping[str, float] = 1800.0,
        holdout: float = 0.0,
        position_bias: Iterable[float] | None = None,
        segments: Mapping[str, Iterable[str]] | None = None,
        half_life: float | Literal["auto"] | None = None,
        values: Literal["learned"] | None = None,
        reward: Mapping[str, float | Literal["value"]] | None = None,
        reward_days: float = 0.0,
        guardrails: Iterable[Mapping[str, JsonValue]] = (),
        alert_url: str | None = None,
        mode: Literal["live", "shadow", "held"] = "live",
        exploring: bool = True,
        pin: Mapping[str, int] | None = None,
        new_items_at_most: float | None = None,
        sticky_seconds: float | None = None,
        version: int | None = None,
    ) -> JsonObject:
        """Create a placement, or replace its definition: omitted arguments get their defaults.

        Parameters
        ----------
        name
            name of the placement
        slots
            number of items shown at once
        items
            the items in the control order: a name, or {"id": name, "value": …, "features": {…}}
        policy
            id of a policy; None for the default
        window_seconds
            time to wait for an outcome, or {"at_most": …, "catch": …} for an adaptive window
        holdout
            share of the views that show the control order
        position_bias
            known position bias by slot; None to learn it
        segments
            keys of the context with their values
        half_life
            half-life of counts: a number of hours, "auto", or None if counts keep their weight
        values
            "learned" to learn the value of a click
        reward
            named events and what each is worth: a number, or "value" for the value that it brings
        reward_days
            days in which events of a decision are accepted
        guardrails
            each {"metric": …, "event": …, "worse_by": …, "then": "alert" or "control"}
        alert_url
            webhook for signed alerts
        mode
            "live", "shadow" to show the control order, or "held" after a broken guardrail
        exploring
            whether lists other than the best one are tried
        pin
            slots of pinned items, from 1
        new_items_at_most
            cold-start cap: maximum share of slots for items without a counted outcome
        sticky_seconds
            how long a visitor sees the same list
        version
            the expected version of the placement, 0 if it must not exist; otherwise the status is 412

        """
        definition: JsonObject = {
            "slots": slots,
            "items": list(items),
            "policy": policy,
            "window_seconds": window_seconds,
            "holdout": holdout,
            "position_bias": None if position_bias is None else list(position_bias),
        }
        # only used fields: an older service rejects unknown ones
        optional: JsonObject = {"half_life": half_life, "values": values, "sticky_seconds": sticky_seconds, "pin": pin}
        optional.update({"reward": None if reward is None else dict(reward), "reward_days": reward_days})
        optional.update({"guardrails": [dict(each) for each in guardrails], "alert_url": alert_url})
        if mode != "live":
            optional["mode"] = mode
        if not exploring:
            definition["exploring"] = False
        if new_items_at_most is not None:
            definition["new_items_at_most"] = new_items_at_most
        optional["segments"] = {key: list(labels) for key, labels in (segments or {}).items()}
        definition.update({name: value for name, value in optional.items() if value})
        return self._change("PUT", name, definition, version)

    def patch_placement(self, name: str, changes: Mapping[str, JsonValue], *, version: int | None = None) -> JsonObject:
        """Change the fields of `changes`; None restores a default, and a list replaces the list.

        Parameters
        ----------
        name
            name of the placement
        changes
            fields of the definition; None restores a default, and a list replaces the list
        version
            the expected version of the placement; otherwise the status is 412

        """
        return self._change("PATCH", name, dict(changes), version)

    def put_item(
        self,
        placement: str,
        item: str,
        *,
        value: float | None = None,
        features: Mapping[str, float | str] | None = None,
        name: str | None = None,
        url: str | None = None,
        image: str | None = None,
        version: int | None = None,
    ) -> JsonObject:
        """Add an item, or replace its settings.

        Parameters
        ----------
        placement
            name of the placement
        item
            id of the item
        value
            value of a click on it
        features
            numbers and text by name
        name
            name for people, which the dashboard shows
        url
            address of the item's own page
        image
            address of a picture
        version
            the expected version of the placement; otherwise the status is 412

        """
        settings = {"value": value, "features": dict(features or {}), "name": name, "url": url, "image": image}
        content: JsonObject = {name: setting for name, setting in settings.items() if setting}
        return self._change("PUT", placement, content, version, f"/items/{_quoted(item)}")

    def retire_item(self, placement: str, item: str, *, version: int | None = None) -> JsonObject:
        """Retire an item: it is no longer shown, and its counts are kept. 404 if it does not exist.

        Parameters
        ----------
        placement
            name of the placement
        item
            id of the item
        version
            the expected version of the placement; otherwise the status is 412

        """
        return self._change("DELETE", placement, None, version, f"/items/{_quoted(item)}")

    def delete_placement(self, name: str, *, version: int | None = None) -> None:
        """Delete a placement permanently, with its decisions, its tally and its counters.

        Parameters
        ----------
        name
            name of the placement
        version
            the expected version of the placement; otherwise the status is 412

        """
        self._change("DELETE", name, None, version, f"?confirm={_quoted(name)}")

    def version(self, name: str) -> int:
        """Return a placement's version, to make a change conditional on it; 0 if it does not exist.

        Parameters
        ----------
        name
            name of the placement

        """
        try:
            response = self._transport.response("GET", f"/v1/placements/{_quoted(name)}")
            return int(response.etag.strip('"'))
        except ServiceProblem as problem:
            if problem.status == 404:
                return 0
            raise
        except ValueError:
            raise ServiceUnreachable(f"{self.url} does not respond as slotwise does") from None

    def changes(self, name: str) -> list[JsonObject]:
        """Return the changes of a placement's definition, newest first.

        Parameters
        ----------
        name
            name of the placement

        """
        return _objects(self._transport.request("GET", f"/v1/placements/{_quoted(name)}/changes"), "changes")

    def _change(self, method: str, name: str, content: JsonValue, version: int | None, suffix: str = "") -> JsonObject:
        headers = {}
        if version is not None:
            headers = {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}
        # a retry would be rejected after a first try that succeeded
        is_idempotent = version is None and method != "DELETE"
        return self._transport.request(
            method, f"/v1/placements/{_quoted(name)}{suffix}", content, is_idempotent=is_idempotent, headers=headers
        )

    def placements(self) -> list[JsonObject]:
        """Return all placements, without their items."""
        return _objects(self._transport.request("GET", "/v1/placements"), "placements")

    def placement(self, name: str) -> JsonObject:
        """Return a placement's definition.

        Parameters
        ----------
        name
            name of the placement

        """
        return self._transport.request("GET", f"/v1/placements/{_quoted(name)}")

    def decide(
        self,
        placement: str,
        exclude: Iterable[str] = (),
        pin: Mapping[str, int] | None = None,
        context: Mapping[str, str] | None = None,
        *,
        candidates: Iterable[str | Mapping[str, JsonValue]] | None = None,
        visitor: str | None = None,
        address: str | None = None,
        key: str | None = None,
    ) -> Decision:
        """Request a decision: a list for one view.

        Parameters
        ----------
        placement
            name of the placement
        exclude
            items that must not be shown
        pin
            slots of pinned items, from 1
        context
            the visitor's segments
        candidates
            the only items that may be shown: ids, or mappings with `id` and `features`
        visitor
            id of the visitor, for sticky lists and caps
        address
            IP address of the visitor, for caps
        key
            idempotency key, unique for each view: the same key returns the same decision

        """
        content: JsonObject = {"exclude": list(exclude), "pin": dict(pin or {})}
        if context:
            content["context"] = dict(context)
        if candidates is not None:
            content["candidates"] = [each if isinstance(each, str) else dict(each) for each in candidates]
        if visitor is not None:
            content["visitor"] = visitor
        if address is not None:
            content["address"] = address
        headers = {} if key is None else {"Idempotency-Key": _key(key)}
        path = f"/v1/placements/{_quoted(placement)}/decisions"
        document = self._transport.request("POST", path, content, is_idempotent=key is not None, headers=headers)
        try:
            return Decision(
                id=document["id"],
                placement=document["placement"],
                items=tuple(document["items"]),
                arm=document["arm"],
                expires=datetime.fromisoformat(document["expires"]),
                token=document["token"],
            )
        except (KeyError, TypeError, ValueError):
            raise ServiceUnreachable(f"{self.url} does not respond as slotwise does") from None

    def outcome(
        self,
        decision: Decision | str,
        *,
        clicked: str | Sequence[str] | _NotGiven | None = _NOT_GIVEN,
        shown: bool = True,
        value: float | None = None,
        events: Iterable[Mapping[str, JsonValue]] = (),
    ) -> bool:
        """Report the outcome of a decision, and return whether it was recorded before.

        Status 409 means that a different outcome is recorded, 410 that the deadline has passed. A retry may get 410
        although its first try was recorded in time.

        Parameters
        ----------
        decision
            the decision, or its id
        clicked
            the clicked item, several in the order of the clicks, or None for no click
        shown
            False if the visitor did not see the list
        value
            value of the click
        events
            events by now, each {"name": …} with a "value" if it has one

        """
        if shown == isinstance(clicked, _NotGiven):
            raise InvalidRequest("an outcome must be clicked=ITEM, clicked=None or shown=False")
        id = decision.id if isinstance(decision, Decision) else decision
        body: JsonObject = {"shown": False}
        if not isinstance(clicked, _NotGiven):
            body = {"clicked": clicked if clicked is None or isinstance(clicked, str) else list(clicked)}
        if value is not None:
            body["value"] = value
        if listed := [dict(event) for event in events]:
            body["events"] = listed
        return bool(self._transport.request("PUT", f"/v1/decisions/{_quoted(id)}/outcome", body).get("duplicate"))

    def add_events(self, decision: Decision | str, events: Iterable[Mapping[str, JsonValue]]) -> bool:
        """Add events to a decision, and return whether all of them were recorded before.

        Status 409 means that an event of the same id is recorded with another name or value, 410 that the placement's
        `reward_days` have passed.

        Parameters
        ----------
        decision
            the decision, or its id
        events
            each {"event_id": …, "name": …} with a "value" if it has one

        """
        id = decision.id if isinstance(decision, Decision) else decision
        body: JsonObject = {"events": [dict(event) for event in events]}
        return bool(self._transport.request("POST", f"/v1/decisions/{_quoted(id)}/events", body).get("duplicate"))

    def decision(self, id: str) -> JsonObject:
        """Return a decision with its outcome so far; 404 if it does not exist.

        Parameters
        ----------
        id
            id of the decision

        """
        return self._transport.request("GET", f"/v1/decisions/{_quoted(id)}")

    def estimates(
        self,
        placement: str,
        segment: Mapping[str, str] | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        period: str | None = None,
    ) -> JsonObject:
        """Return the estimates of a placement's items and slots, and its counts.

        Parameters
        ----------
        placement
            name of the placement
        segment
            only visitors of this segment; None for all
        since, until
            decisions of the uplift; by default all
        period
            the last hours, days or weeks for the uplift: 24h, 7d, 4w

        """
        fields = [("segment", f"{key}:{value}") for key, value in (segment or {}).items()]
        fields += [(name, time.isoformat()) for name, time in (("since", since), ("until", until)) if time is not None]
        fields += [("period", period)] if period is not None else []
        query = urlencode(fields)
        return self._transport.request(
            "GET", f"/v1/placements/{_quoted(placement)}/estimates{'?' if query else ''}{query}"
        )

    def history(
        self,
        placement: str,
        by: Literal["hour", "day"] = "day",
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> JsonObject:
        """Return a placement's counts by hour or by day, in UTC.

        Parameters
        ----------
        placement
            name of the placement
        by
            "hour" or "day"
        since, until
            range of the counts; by default the last 7 days by hour, or 90 days by day

        """
        times = {"since": since, "until": until}
        query = {"by": by} | {
            name: time.isoformat() if isinstance(time, datetime) else time for name, time in times.items() if time
        }
        return self._transport.request("GET", f"/v1/placements/{_quoted(placement)}/history?{urlencode(query)}")

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _key(key: str) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isascii() or not key.isprintable():
        raise InvalidRequest(f"key must be 1 to 200 printable characters of ASCII, got {key!r}")
    return key


def _quoted(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidRequest(f"a name must be text, got {name!r}")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise InvalidRequest(f"a name must be text, got {name!r}") from None


def _objects(document: JsonObject, field: str) -> list[JsonObject]:
    return list(document.get(field, ()))
