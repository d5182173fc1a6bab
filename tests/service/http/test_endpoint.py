from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from slotwise.service.http.endpoint import BodyLimit, Operation, read_body, refuse_repeated_keys
from slotwise.service.http.error_responses import Refusal
from slotwise.service.http.openapi import document


class Order(BaseModel):
    drink: str
    cups: Annotated[int, Field(ge=1)] = 1


class Bill(BaseModel):
    table: str
    cups: int


TEA = Order(drink="tea")


async def serve(table: str, order: Order = TEA) -> tuple[int, Bill]:
    """Bring something to a table."""
    return 201, Bill(table=table, cups=order.cups)


async def clear(table: str) -> tuple[int, list[str]]:
    """Take everything away."""
    return 200, [table]


SERVE = Operation("POST", "/tables/{table}", serve, answers={201: "Brought."}, body_limit=BodyLimit(100))
CLEAR = Operation("GET", "/tables/{table}", clear, answers={200: "Gone."}, is_public=True)


@pytest.mark.parametrize(
    "body",
    [b'{"drink": "tea", "cups": 1, "cups": 2}', b'[{"drink": "tea", "drink": "tea"}]', b'{"a": {"b": 1, "b": 1}}'],
)
def test_a_key_that_occurs_twice_is_refused_by_name(body: bytes) -> None:
    with pytest.raises(Refusal, match=r"has the key '(cups|drink|b)' twice in one object"):
        ask(SERVE, body)


@pytest.mark.parametrize("body", [b'{"drink": "tea"', b"[" * 100_000, b"\xff", b'{"cups": 1' + b"0" * 9_000 + b"}"])
def test_other_faults_of_a_body_are_left_to_its_validation(body: bytes) -> None:
    refuse_repeated_keys(body)


def ask(operation: Operation, *parts: bytes) -> tuple[int, Any]:
    """What it answers to a body that comes in these parts."""
    received = iter(parts)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        part = next(received)
        return {"type": "http.request", "body": part, "more_body": part is not parts[-1]}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "headers": [], "path_params": {"table": "five"}}
    asyncio.run(operation(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_the_signature_defines_request_and_response() -> None:
    assert ask(SERVE, b'{"drink": "tea", ', b'"cups": 2}') == (201, {"table": "five", "cups": 2})
    assert ask(SERVE, b"") == (201, {"table": "five", "cups": 1})
    assert ask(CLEAR) == (200, ["five"])
    with pytest.raises(ValidationError, match="cups"):
        ask(SERVE, b'{"drink": "tea", "cups": 0}')


def test_the_document_is_made_of_the_same_types() -> None:
    found = document([SERVE, CLEAR])
    described = found["paths"]["/tables/{table}"]["post"]
    assert described["operationId"] == "serve"
    assert described["description"] == "Bring something to a table."
    assert described["requestBody"]["required"] is False
    (parameter,) = described["parameters"]
    assert (parameter["name"], parameter["in"], parameter["schema"]["type"]) == ("table", "path", "string")
    order = found["components"]["schemas"]["Order"]
    assert order["properties"]["cups"]["minimum"] == 1
    assert order["required"] == ["drink"]
    # of its key, path and body, and of the store
    assert set(described["responses"]) == {"201", "400", "401", "403", "404", "408", "413", "422", "503"}
    assert described["responses"]["201"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Bill"
    }
    assert "security" in described
    public = found["paths"]["/tables/{table}"]["get"]
    assert "security" not in public
    assert set(public["responses"]) == {"200", "404", "503"}


@pytest.mark.parametrize("parts", [[b"x" * 101], [b"x" * 60, b"x" * 41], [b"x" * 60, b"x" * 41, b"never read"]])
def test_a_body_too_large_is_refused(parts: list[bytes]) -> None:
    with pytest.raises(Refusal, match="at most 100 bytes") as refused:
        ask(SERVE, *parts)
    assert refused.value.status == 413


def test_a_body_that_is_announced_too_large_is_not_waited_for() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": True}

    with pytest.raises(Refusal, match="at most 100 bytes"):
        asyncio.run(read_body({"headers": [(b"content-length", b"101")]}, receive, BodyLimit(100)))


def test_a_body_that_takes_too_long_is_given_up() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"", "more_body": True}

    with pytest.raises(Refusal, match=r"within 0\.05 seconds") as refused:
        asyncio.run(read_body({"headers": []}, receive, BodyLimit(100, 0.05)))
    assert refused.value.status == 408


def test_a_body_that_breaks_off_is_refused() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(Refusal, match="the body is incomplete"):
        asyncio.run(read_body({"headers": []}, receive, BodyLimit(100)))
