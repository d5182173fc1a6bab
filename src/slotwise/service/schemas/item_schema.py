"""The schema of an item: an id, or an id with the value of a click, features, and how people recognise it."""

from __future__ import annotations

import re
from typing import Annotated, Final, NotRequired
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    StringConstraints,
    Tag,
    with_config,
)
from pydantic_core import PydanticCustomError

# pydantic supports the one in `typing` from Python 3.12 on
from typing_extensions import TypedDict

from slotwise.core.goal import MAX_VALUE
from slotwise.service.schemas.name_rules import Name
from slotwise.service.schemas.report_schemas import closed

MAX_FEATURES: Final = 50
MAX_ADDRESS: Final = 2_000
#: a host, and nothing that a browser would drop or read as another scheme
_ADDRESS: Final = re.compile(r"https?://[^\s/?#@\\]+([/?#][^\s\\]*)?", re.IGNORECASE)
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Strict(BaseModel):
    """A model that accepts no other fields, and no values of other types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


def _has_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _web_address(text: str) -> str:
    if not _ADDRESS.fullmatch(text) or not text.isprintable() or not _has_host(text):
        raise PydanticCustomError("web_address", "must be an address that starts with http:// or https://")
    return text


WebAddress = Annotated[str, StringConstraints(max_length=MAX_ADDRESS), AfterValidator(_web_address)]
Feature = Annotated[
    Annotated[Finite, Tag("=number")] | Annotated[str, Tag("=text")],
    Discriminator(lambda value: "=text" if isinstance(value, str) else "=number"),
]


class ItemSettings(Strict):
    """The properties of an item apart from its id."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 2.5, "features": {"price": 3.2}}, {}]})

    value: Annotated[Finite, Field(gt=0, le=MAX_VALUE)] | None = None
    """The value of a click on it, relative to clicks on other items; 1 if it is not given."""
    features: Annotated[dict[Name, Feature], Field(max_length=MAX_FEATURES)] = {}
    """Numbers and texts by name. Estimates of items with similar features inform each other."""
    name: Name | None = None
    """A name for people, which the dashboard shows instead of the id."""
    url: WebAddress | None = None
    """The address of the item's own page, which the dashboard links to."""
    image: WebAddress | None = None
    """The address of a picture of the item, which the dashboard shows."""


class Item(ItemSettings):
    """An item that can be shown in a slot."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "beans", "value": 2.5}]})

    id: Name


def _named(item: object) -> object:
    return {"id": item} if isinstance(item, str) else item


@with_config(closed({"name": "Coffee beans"}))
class ItemLabel(TypedDict):
    """How people recognise an item."""

    name: NotRequired[str]
    url: NotRequired[str]
    image: NotRequired[str]


@with_config(closed({"id": "beans", "value": 2.5}))
class ItemDocument(ItemLabel):
    """An item with its properties."""

    id: str
    value: NotRequired[float]
    features: NotRequired[dict[str, float | str]]


def label_of(item: Item) -> ItemLabel:
    """The item's name, address and picture, as far as they were given."""
    label: ItemLabel = {}
    if item.name is not None:
        label["name"] = item.name
    if item.url is not None:
        label["url"] = item.url
    if item.image is not None:
        label["image"] = item.image
    return label


def document_of(item: Item) -> ItemDocument:
    """The item as JSON, without properties that were not given."""
    # mypy: a label might have these keys with other types, as it is not closed
    document: ItemDocument = {"id": item.id, **label_of(item)}  # type: ignore[typeddict-item]
    if item.value is not None:
        document["value"] = item.value
    if item.features:
        document["features"] = item.features
    return document


def _as_given(item: Item) -> str | ItemDocument:
    document = document_of(item)
    return document if len(document) > 1 else item.id


#: an id, or an object with an id and properties
ListedItem = Annotated[
    Item,
    BeforeValidator(_named, json_schema_input_type=Name | Item),
    PlainSerializer(_as_given, return_type=str | ItemDocument),
]
