"""Warnings about names and arguments that a later version removes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from slotwise.core.errors import InvalidInput

P = ParamSpec("P")
R = TypeVar("R")


def deprecated(replacement: str, *, removed_in: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a function or class that a later version removes: calls warn, and work.

    Parameters
    ----------
    replacement
        what to use instead, as a user would write it
    removed_in
        the first version without it, as in `"2.0"`

    Examples
    --------
    >>> @deprecated("fit_log", removed_in="2.0")
    ... def fit(log):
    ...     return log
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fit("clicks")
    'clicks'
    >>> str(caught[0].message)
    'fit is deprecated and will be removed in version 2.0: use fit_log'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        text = _text(function.__name__, replacement, removed_in)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return call

    return decorate


def renamed_argument(old: str, new: str, *, removed_in: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator for a function with a renamed keyword argument: the old name warns, and works.

    Parameters
    ----------
    old
        the former name of the argument
    new
        its name today
    removed_in
        the first version that refuses the old name

    Examples
    --------
    >>> @renamed_argument("memory", "half_life", removed_in="2.0")
    ... def serve(half_life):
    ...     return half_life
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     serve(memory=24)
    24
    >>> str(caught[0].message)
    'memory of serve is deprecated and will be removed in version 2.0: use half_life'
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        text = _text(f"{old} of {function.__name__}", new, removed_in)

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> R:
            if old in kwargs:
                if new in kwargs:
                    raise InvalidInput(f"{new} is given twice: {old} is its former name")
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def _text(what: str, replacement: str, removed_in: str) -> str:
    return f"{what} is deprecated and will be removed in version {removed_in}: use {replacement}"
