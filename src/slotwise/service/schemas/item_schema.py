"""The schema of an item: an id, or an id with the value of a click and features."""

from __future__ import annotations

from typing import Annotated, Final, NotRequired

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    with_config,
)

# pydantic supports the one in `typing` from Python 3.12 on
from typing_extensions import TypedDict

from slotwise.core.goal import MAX_VALUE
from slotwise.service.schemas.name_rules import Name
from slotwise.service.schemas.report_schemas import closed

MAX_FEATURES: Final = 50
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Strict(BaseModel):
    """A model that accepts no other fields, and no values of other types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


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


class Item(ItemSettings):
    """An item that can be shown in a slot."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "beans", "value": 2.5}]})

    id: Name


def _named(item: object) -> object:
    return {"id": item} if isinstance(item, str) else item


@with_config(closed({"id": "beans", "value": 2.5}))
class ItemDocument(TypedDict):
    """An item with its properties."""

    id: str
    value: NotRequired[float]
    features: NotRequired[dict[str, float | str]]


def document_of(item: Item) -> ItemDocument:
    """The item as JSON, without properties that were not given."""
    document: ItemDocument = {"id": item.id}
    if item.value is not None:
        document["value"] = item.value
    if item.features:
        document["features"] = item.features
    return document


def _as_given(item: Item) -> str | ItemDocument:
    document = document_of(item)
    return document if len(document) > 1 else item.id


#: an id, or an object with an id, the value of a click and features
ListedItem = Annotated[
    Item,
    BeforeValidator(_named, json_schema_input_type=Name | Item),
    PlainSerializer(_as_given, return_type=str | ItemDocument),
]
