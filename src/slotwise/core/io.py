"""Files that are whole or absent, CSV tables and data frames."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from slotwise.core.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` when the block succeeds; on an error `path` stays as it was."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_csv(path: str | os.PathLike[str], heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a line of `heads` and a line per row; None becomes an empty cell."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
        # `replacing` closes the file
        text.detach()


def frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a data frame of these columns; raise `MissingExtra` without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("a data frame", "frames") from None
    return pd.DataFrame(dict(columns))
