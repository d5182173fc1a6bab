"""A ranker as a file: whole or absent, and refused by name if it is not one of ours."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from slotwise import checks
from slotwise.errors import InvalidInput, SlotwiseError, UnreadableFile, UnwritableFile
from slotwise.files import replacing
from slotwise.policies import policy
from slotwise.ranker.learner import Learner

FORMAT = "slotwise ranker 1"
COUNTS = ("clicks", "passes", "shown")
#: what reading raises of a file with a bit turned over, or of another program's
DAMAGE = (
    OSError,
    SlotwiseError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class Contents(NamedTuple):
    """Of a file: text in JSON, and arrays of counts by name."""

    text: bytes
    counts: dict[str, Any]


def contents_of(learner: Learner, **more: Any) -> Contents:
    """All of a learner but its policy's own memory, which follows from the tally, and what else is to be kept."""
    bias, tally = learner.position_bias, learner.tally
    words = {
        "format": FORMAT,
        "items": learner.items,
        "slots": learner.slots,
        "policy": learner.policy.id,
        "options": learner.policy.options,
        "position_bias": None if bias is None else bias.tolist(),
        "values": learner.values,
        "retired": learner.retired,
        "rng": learner.rng.bit_generator.state,
        **more,
    }
    text = json.dumps(words, default=lambda array: array.tolist()).encode()
    return Contents(text, {"clicks": tally.clicks, "passes": tally.passes, "shown": learner.shown})


def write(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write to `path` (npz); what was there before survives a failure."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UnwritableFile(f"there is no folder {folder} to write {os.path.basename(path)} into")
    with replacing(path) as file:
        np.savez_compressed(file, words=np.frombuffer(contents.text, np.uint8), **contents.counts)


def read(path: str | os.PathLike[str]) -> tuple[Learner, dict[str, tuple[str, ...]], int]:
    """The learner that was written, the rankings that were pending, and how many had been forgotten."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            words = json.loads(found["words"].tobytes())
            counts = [found[count] for count in COUNTS]
        if words["format"] != FORMAT:
            raise UnreadableFile(f"{name} holds {words['format']!r}, not {FORMAT!r}")
        return (
            _learner(words, counts),
            _pending(words),
            checks.whole_number("forgotten", words["forgotten"], at_least=0),
        )
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {name}") from None
    except UnreadableFile:
        raise
    except DAMAGE as problem:
        raise UnreadableFile(f"{name} is damaged or not a ranker ({problem})") from problem


def _learner(words: dict[str, Any], counts: list[Any]) -> Learner:
    rng = np.random.default_rng()
    rng.bit_generator.state = words["rng"]
    learner = Learner(
        words["items"],
        words["slots"],
        policy=policy(words["policy"], **words["options"]),
        position_bias=words["position_bias"],
        values=words["values"],
        retired=words["retired"],
        rng=rng,
    )
    learner.absorb(*counts)
    return learner


def _pending(words: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {str(id): tuple(items) for id, items in words["pending"]}
    known = set(words["items"])
    for id, items in found.items():
        if not known.issuperset(items):
            raise InvalidInput(f"ranking {id} is of items that are not there")
    return found
