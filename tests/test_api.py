"""The public names are documented: a generated page lists them, and docstrings name every parameter."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, is_typeddict

import pytest
from pydantic import BaseModel

import slotwise
from slotwise import Rankings, Results, Tally
from slotwise.ranker import Ranker
from slotwise.ranker.estimates import Estimates
from slotwise_client import Client

ROOT = Path(__file__).parents[1]
MODULES = (
    "slotwise",
    "slotwise.click_models",
    "slotwise.environments",
    "slotwise.estimators",
    "slotwise.logs",
    "slotwise.service",
    "slotwise.testing",
    "slotwise.theory",
    "slotwise_client",
)
#: classes whose methods name their parameters too
WITH_METHODS = (Client, Ranker, Estimates, Rankings, Results, Tally)


def documented(docstring: str | None) -> set[str]:
    """Return the names in the section Parameters of a docstring.

    >>> sorted(documented("Add.\\n\\nParameters\\n----------\\na, b : int\\n    Terms.\\n\\nReturns\\n-------\\nint"))
    ['a', 'b']
    """
    text = inspect.cleandoc(docstring or "")
    section = re.search(r"^Parameters\n-{10}\n(.*?)(?=^\w+\n-{3,}$|^>>>|\Z)", text, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^([*\w][^:\n]*?)(?: :.*)?$", section[1], re.MULTILINE) if section else []
    return {name.strip(" *") for head in heads for name in head.split(",")}


def parameters(named: Any) -> set[str]:
    """Return the names of the parameters of a function or class; for a record, those of its fields."""
    if isinstance(named, type) and issubclass(named, Exception) and "__init__" not in vars(named):
        return set()
    return set(inspect.signature(getattr(named, "prepare", named)).parameters) - {"self"}


def public_callables() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        exported = importlib.import_module(module)
        for name in exported.__all__:
            named = getattr(exported, name)
            if callable(named) and not is_typeddict(named):
                yield f"{module}.{name}", named
    for owner in WITH_METHODS:
        for name, method in inspect.getmembers(owner, inspect.isroutine):
            if not name.startswith("_") and name in vars(owner):
                yield f"{owner.__name__}.{name}", method


@pytest.mark.parametrize(("name", "named"), [pytest.param(*each, id=each[0]) for each in public_callables()])
def test_the_docstring_names_every_parameter(name: str, named: Any) -> None:
    assert named.__doc__, name
    if isinstance(named, type) and issubclass(named, BaseModel):
        # the docstrings of its fields are the descriptions of the HTTP API
        assert [field for field, info in named.model_fields.items() if not info.description] == []
    else:
        assert documented(named.__doc__) == parameters(named)


def test_the_page_of_public_names_lists_exactly_those() -> None:
    page = (ROOT / "docs" / "reference" / "python-api.md").read_text()
    assert sorted(re.findall(r"^## slotwise\.(\w+)$", page, re.MULTILINE)) == sorted(slotwise.__all__)


def test_the_version_is_that_of_the_distribution() -> None:
    assert slotwise.__version__ == importlib.metadata.version("slotwise")
    assert set(slotwise.__all__) <= set(dir(slotwise))
