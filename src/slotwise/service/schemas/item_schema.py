"""Items as they are given: an id alone, or with what a click is worth and what is known of it."""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired

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

# pydantic reads the one in `typing` from Python 3.12 on only
from typing_extensions import TypedDict

from slotwise.core.goal import MAX_VALUE
from slotwise.service.schemas.name_rules import Name
from slotwise.service.schemas.report_schemas import closed

MAX_FEATURES: Final = 50
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Strict(BaseModel):
    """What is read as it is: nothing more, and nothing of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


Feature = Annotated[
    Annotated[Finite, Tag("=number")] | Annotated[str, Tag("=text")],
    Discriminator(lambda value: "=text" if isinstance(value, str) else "=number"),
]


class ItemSettings(Strict):
    """What there is to say of an item beside its id."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 2.5, "features": {"price": 3.2}}, {}]})

    value: Annotated[Finite, Field(gt=0, le=MAX_VALUE)] | None = None
    """What a click on it is worth beside clicks on the others; 1 where it is not said."""
    features: Annotated[dict[Name, Feature], Field(max_length=MAX_FEATURES)] = {}
    """What is known of it, numbers and texts by name: what is learned of an item tells of those that are like it."""


class Item(ItemSettings):
    """Something that can be shown."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "beans", "value": 2.5}]})

    id: Name


def _named(item: Any) -> Any:
    return {"id": item} if isinstance(item, str) else item


@with_config(closed({"id": "beans", "value": 2.5}))
class ItemDocument(TypedDict):
    """An item, with what was said of it."""

    id: str
    value: NotRequired[float]
    features: NotRequired[dict[str, float | str]]


def document_of(item: Item) -> ItemDocument:
    """An item as it was given."""
    found: ItemDocument = {"id": item.id}
    if item.value is not None:
        found["value"] = item.value
    if item.features:
        found["features"] = item.features
    return found


def _as_given(item: Item) -> str | ItemDocument:
    found = document_of(item)
    return found if len(found) > 1 else item.id


#: an id alone, or with what a click on it is worth and what is known of it
ListedItem = Annotated[
    Item,
    BeforeValidator(_named, json_schema_input_type=Name | Item),
    PlainSerializer(_as_given, return_type=str | ItemDocument),
]
