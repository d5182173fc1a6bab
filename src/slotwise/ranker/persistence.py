"""A ranker as a file, which is complete or absent; other files are refused by name."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, SlotwiseError, UnreadableFile, UnwritableFile
from slotwise.core.io import replacing
from slotwise.policies import get_policy
from slotwise.ranker.learner import Learner
from slotwise.ranker.segment_counts import STORED
from slotwise.ranker.segment_names import SegmentNames

FORMAT = "slotwise ranker 1"
#: exceptions on reading a damaged file, or a file of another program
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
    """The contents of a file: text in JSON, and arrays of counts by name."""

    text: bytes
    counts: dict[str, Any]


@dataclass(frozen=True)
class Saved:
    """The state of a ranker without its learner."""

    #: by id: the items of the list, and the number of the segment that it is for
    pending: Mapping[str, tuple[tuple[str, ...], int]]
    expired: int
    segments: SegmentNames
    exploring: bool


def contents_of(learner: Learner, saved: Saved) -> Contents:
    """A ranker as text and arrays; the policy's record is left out, as it follows from the counts."""
    bias = learner.position_bias
    words = {
        "format": FORMAT,
        "items": learner.items,
        "slots": learner.slots,
        "policy": learner.policy.id,
        "options": learner.policy.options,
        "position_bias": None if bias is None else bias.tolist(),
        "values": learner.values,
        "retired": learner.retired,
        "features": learner.features,
        "rng": learner.rng.bit_generator.state,
        "pending": [[id, items, segment] for id, (items, segment) in saved.pending.items()],
        "expired": saved.expired,
        "segments": saved.segments.names,
        "exploring": saved.exploring,
    }
    text = json.dumps(words, default=lambda array: array.tolist()).encode()
    return Contents(text, learner.arrays())


def write(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write to `path` (npz); a file that was there before survives a failure."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UnwritableFile(f"there is no folder {folder} to write {os.path.basename(path)} into")
    with replacing(path) as file:
        np.savez_compressed(file, words=np.frombuffer(contents.text, np.uint8), **contents.counts)


def read(path: str | os.PathLike[str]) -> tuple[Learner, Saved]:
    """The learner and the state that were written."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            words = json.loads(stored["words"].tobytes())
            if words["format"] != FORMAT:
                raise UnreadableFile(f"{name} holds {words['format']!r}, not {FORMAT!r}")
            counts = {count: stored[count] for count in STORED}
        return _learner(words, counts), _saved(words)
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {name}") from None
    except UnreadableFile:
        raise
    except DAMAGE as problem:
        raise UnreadableFile(f"{name} is damaged or not a ranker ({problem})") from problem


def _learner(words: dict[str, Any], counts: dict[str, Any]) -> Learner:
    rng = np.random.default_rng()
    rng.bit_generator.state = words["rng"]
    learner = Learner(
        words["items"],
        words["slots"],
        policy=get_policy(words["policy"], **words["options"]),
        position_bias=words["position_bias"],
        values=words["values"],
        retired=words["retired"],
        segments=1 + len(words["segments"]),
        features=words["features"],
        rng=rng,
    )
    learner.restore(counts)
    return learner


def _saved(words: dict[str, Any]) -> Saved:
    pending = {str(id): (tuple(items), segment) for id, items, segment in words["pending"]}
    ids = set(words["items"])
    for id, (items, segment) in pending.items():
        if not ids.issuperset(items):
            raise InvalidInput(f"ranking {id} is of items that are not there")
        validation.whole_number(f"the segment of ranking {id}", segment, at_least=0, at_most=len(words["segments"]))
    if not isinstance(words["exploring"], bool):
        raise InvalidInput(f"exploring must be true or false, got {words['exploring']!r}")
    expired = validation.whole_number("expired", words["expired"], at_least=0)
    return Saved(pending, expired, SegmentNames(words["segments"]), words["exploring"])
