"""Conditional headers: ETags, and idempotency keys."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.http.endpoint import InHeader
from slotwise.service.placements.definition_edits import ExpectedVersion
from slotwise.service.placements.placement_state import Placement

_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e]*)"', re.ASCII)
#: a version fits into 64 bits
_VERSION: Final = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)

IfMatch = Annotated[
    str | None,
    InHeader("If-Match"),
    Field(description="The ETag that the placement must have, or * for any; otherwise 412.", examples=['"1"']),
]
IfNoneMatch = Annotated[
    str | None,
    InHeader("If-None-Match"),
    Field(description="* creates a placement and never changes one: 412 if it exists.", examples=["*"]),
]
IfNew = Annotated[
    str | None,
    InHeader("If-None-Match"),
    Field(description="The ETag of a known document; 304 if it is unchanged.", examples=['"9f2c41"']),
]
IdempotencyKey = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[ -~]+$")] | None,
    InHeader("Idempotency-Key"),
    Field(
        description="Idempotency key of up to 200 ASCII characters; the same key returns the same decision.",
        examples=["9f2c41-home-1"],
    ),
]


def etag(placement: Placement) -> dict[str, str]:
    """Return the ETag header of a placement's version."""
    return {"ETag": f'"{placement.version}"'}


def is_new(if_none_match: str | None, tag: str) -> bool:
    """Return whether the client does not have the document with this tag yet.

    >>> is_new(None, '"a"'), is_new('"a"', '"a"'), is_new('W/"b", "a"', '"a"'), is_new("*", '"a"'), is_new('"b"', '"a"')
    (True, False, False, False, True)
    """
    if if_none_match is None:
        return True
    tags = {text.strip().removeprefix("W/") for text in if_none_match.split(",")}
    return not tags & {tag, "*"}


def expected(if_match: str | None = None, if_none_match: str | None = None) -> ExpectedVersion:
    """Return the expected versions of a placement, from the two headers.

    >>> expected('"3", W/"4", "x"')
    ExpectedVersion(versions=frozenset({3}), exists=None)
    >>> expected(if_none_match="*")
    ExpectedVersion(versions=None, exists=False)
    """
    if if_none_match not in (None, "*"):
        raise InvalidInput(f"If-None-Match: must be *, got {validation.short(if_none_match)}")
    if if_match is None:
        return ExpectedVersion(exists=None if if_none_match is None else False)
    if if_match == "*":
        return ExpectedVersion(exists=True)
    tags = [_TAG.fullmatch(tag.strip()) for tag in if_match.split(",")]
    versions = set()
    for tag in tags:
        if tag is None:
            raise InvalidInput(
                f'If-Match: must be an ETag in quotation marks, as "3", got {validation.short(if_match)}'
            )
        # a weak tag never matches If-Match (RFC 9110, 13.1.1)
        if tag[1] is None and _VERSION.fullmatch(tag[2]):
            versions.add(int(tag[2]))
    return ExpectedVersion(versions=frozenset(versions))
