"""The results of a simulation: regret by policy, round and replication."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.core.errors import MissingExtra
from slotwise.core.io import frame, replacing
from slotwise.simulation.plot import figure
from slotwise.simulation.policy_run import Run, counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: columns of printed text
WIDTH = 80


class Table(ABC):
    """Columns of numbers, as a data frame or a file."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return arrays of equal length by name."""

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame of `columns`."""
        return frame(self.columns())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write `columns` to a Parquet file.

        Parameters
        ----------
        path
            The path of the file.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("a Parquet file", "parquet") from None
        with replacing(path) as file:
            pq.write_table(pa.table(self.columns()), file)


@dataclass(frozen=True, eq=False, repr=False)
class Results(Table, Mapping[str, Run]):
    """A `Run` per policy, by its label; printed, a table of final regret.

    Parameters
    ----------
    runs : dict of str to Run
        The replications of each policy.
    rounds, replications, seed : int
        The arguments of `simulate`.
    environment : str
        The name of the environment: its class, or its key in `sweep`.
    """

    runs: dict[str, Run]
    rounds: int
    replications: int
    seed: int
    environment: str = ""

    def __getitem__(self, policy: str) -> Run:
        return self.runs[policy]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def table(self) -> list[tuple[str, ...]]:
        """Return final regret by policy as text: a row of headings, then a row per policy."""
        rows: list[tuple[str, ...]] = [("policy", "mean", "± s.e.", "5 %", "median", "95 %", "seconds")]
        for label, run in self.items():
            error = f"{run.standard_error:.1f}" if self.replications > 1 else "–"
            quantiles = [f"{run.quantile(q):,.1f}" for q in (0.05, 0.5, 0.95)]
            rows.append((label, f"{run.mean:,.1f}", error, *quantiles, f"{run.seconds:.2f}"))
        return rows

    @property
    def title(self) -> str:
        """The title of the table."""
        return f"Regret after {self.rounds:,} rounds, {counted(self.replications)}, seed {self.seed}"

    def __repr__(self) -> str:
        rows = self.table()
        longest, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
        name = min(longest, WIDTH - sum(2 + width for width in widths))
        lines = [self.title]
        for label, *cells in rows:
            # a policy with many options has a line of its own, and its numbers the next
            alone = len(label) > name
            numbers = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            lines += [label] * alone + [("" if alone else label).ljust(name) + numbers]
        return "\n".join(lines)

    def summary(self) -> str:
        """Return the table of final regret by policy as text."""
        return repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return final regret by policy as plain numbers that JSON can hold."""
        return {
            "rounds": self.rounds,
            "replications": self.replications,
            "seed": self.seed,
            "policies": {
                label: {
                    "final_regret": run.final_regret.tolist(),
                    "mean": run.mean,
                    "standard_error": run.standard_error if self.replications > 1 else None,
                    "seconds": run.seconds,
                }
                for label, run in self.items()
            },
        }

    def columns(self) -> dict[str, Any]:
        """Return every recorded number, one row per policy, replication and round.

        These columns are stable: later versions may add some, and neither rename nor drop any.

        - `environment`: the class of the users, or the key in `sweep`
        - `policy`: the label of the policy, its id with options, and `options`: the part after the colon
        - `seed`: that of `simulate`; replication i has the i-th stream of it
        - `version`: the version of slotwise
        - `replication`, `round`: counted from 0 and from 1
        - `regret`: cumulative, up to and with the round
        """
        points = len(next(iter(self.values())).rounds)
        rows = len(self) * self.replications * points
        labels = np.repeat(np.array(list(self), dtype=str), self.replications * points)
        return {
            "environment": np.full(rows, self.environment),
            "policy": labels,
            "options": np.array([label.partition(":")[2] for label in labels], dtype=str),
            "seed": np.full(rows, self.seed),
            "version": np.full(rows, version("slotwise")),
            "replication": np.tile(np.repeat(np.arange(self.replications), points), len(self)),
            "round": np.concatenate([np.tile(run.rounds, self.replications) for run in self.values()]),
            "regret": np.concatenate([run.regret.ravel() for run in self.values()]),
        }

    def plot(self) -> Figure:
        """Draw mean cumulative regret through time, and the distribution of final regret, by policy."""
        return figure(self)
