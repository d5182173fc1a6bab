"""Functions that the engines have and ibis lacks, or has only in a slower or a broken form."""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir


def bucket(keys: list[ir.Value], parts: int) -> ir.Value:
    """A number from 0 to parts - 1 that depends on the keys alone."""
    text = ibis.literal("").join([key.cast("string") for key in keys])
    engine = keys[0].get_backend().name
    if engine == "duckdb":
        return (duckdb_hash(text) >> 1).cast("int64") % parts
    return (hashtext(text) if engine == "postgres" else text.hash()).cast("int64").abs() % parts


# ibis makes its hash signed first, which takes as long as the hash itself
@ibis.udf.scalar.builtin(name="hash", signature=((dt.string,), dt.uint64))  # type: ignore[untyped-decorator]
def duckdb_hash(text: Any) -> Any:
    """DuckDB's: 64 bits."""


@ibis.udf.scalar.builtin(name="hash", signature=((dt.string, dt.string), dt.uint64))  # type: ignore[untyped-decorator]
def duckdb_hash_of_two(text: Any, other: Any) -> Any:
    """DuckDB's, of both together."""


@ibis.udf.scalar.builtin(name="hash", signature=((dt.string, dt.int64), dt.uint64))  # type: ignore[untyped-decorator]
def duckdb_hash_with_number(text: Any, number: Any) -> Any:
    """DuckDB's, of both together."""


@ibis.udf.scalar.builtin(name="bit_count", signature=((dt.uint64,), dt.int64))  # type: ignore[untyped-decorator]
def bit_count(number: Any) -> Any:
    """DuckDB's: how many bits are set."""


@ibis.udf.scalar.builtin(name="hashtext", signature=((dt.string,), dt.int32))  # type: ignore[untyped-decorator]
def hashtext(text: Any) -> Any:
    """PostgreSQL's: 32 bits."""


@ibis.udf.agg.builtin(  # type: ignore[untyped-decorator]
    name="collect_set", signature=((dt.string,), dt.Array(dt.string))
)
def spark_set(text: Any) -> Any:
    """Spark's: the different values of a group. To count them so, it does not have to copy every row for each count."""


@ibis.udf.scalar.builtin(  # type: ignore[untyped-decorator]
    name="unix_micros", signature=((dt.Timestamp(timezone="UTC"),), dt.int64)
)
def unix_micros(time: Any) -> Any:
    """Spark's: ibis has no microseconds there."""
