"""Logs as people really have them: each is written to a file, and either counted as it should be or refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.core.errors import SlotwiseError
from slotwise.logs import Columns, tally
from slotwise.logs.counting.cleaning_rules import SIZES

HEAD = "impression,slot,item,clicked\n"
#: four impressions of two slots: a click on a in slot 1, one on b in slot 1, two without a click
PLAIN = HEAD + "1,1,a,1\n1,2,b,0\n2,1,b,1\n2,2,a,0\n3,1,a,0\n3,2,b,0\n4,1,b,0\n4,2,a,0\n"
CLICKS, PASSES = [[1, 1], [0, 0]], [[1, 1], [1, 1]]
LISTS = [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]]
CLICKED = ["a", "b", None, None]


@dataclass(frozen=True)
class Nasty:
    """A log, how it is called, and what becomes of it."""

    log: str | bytes | pa.Table | dict[str, str | bytes]
    name: str = "log.csv"
    columns: Columns = field(default_factory=Columns)
    #: if it is counted: how often each rule was needed, without the rows that were read
    cleaned: dict[str, int] | None = None
    #: and the ids, clicks and passes, where they are not those of PLAIN
    ids: tuple[str, ...] = ("a", "b")
    clicks: Any = field(default_factory=lambda: CLICKS)
    passes: Any = field(default_factory=lambda: PASSES)
    #: if it is rejected: the error
    said: tuple[str, ...] = ()


def counted(log: Any, name: str = "log.csv", columns: Columns | None = None, **cleaned: int) -> Nasty:
    return Nasty(log, name, columns or Columns(), cleaned=cleaned)


def refused(log: Any, *said: str, name: str = "log.csv", columns: Columns | None = None) -> Nasty:
    return Nasty(log, name, columns or Columns(), said=said)


def wide(items: Any, clicked: Any, **more: Any) -> pa.Table:
    return pa.table({"items": items, "clicked": clicked, **more})


def quoted(items: list[str], clicked: list[str]) -> str:
    """A text file of lists."""
    rows = [",".join(json.dumps(cell).replace('\\"', '""') for cell in row) for row in zip(items, clicked, strict=True)]
    return "items,clicked\n" + "\n".join(rows) + "\n"


STRUCTS = [[{"id": item, "price": 2} for item in one] for one in LISTS]

NASTY = {
    # the content of a file, under any name
    "a byte order mark": counted("\ufeff" + PLAIN),
    "lines end as on Windows": counted(PLAIN.replace("\n", "\r\n")),
    "no end of the last line": counted(PLAIN.rstrip("\n")),
    "blank lines": counted(PLAIN.replace("3,1,a,0\n", "\n3,1,a,0\n\n")),
    "gzip that is called csv": counted(gzip.compress(PLAIN.encode())),
    "text that is called gz": counted(PLAIN, "log.csv.gz"),
    "gzip of another name": counted(gzip.compress(PLAIN.encode()), "log.gz"),
    "zstd that is called csv": counted(pa.compress(PLAIN.encode(), "zstd", asbytes=True)),
    "Parquet that is called csv": counted(wide(LISTS, CLICKED), "clicks.csv"),
    "Parquet without an ending": counted(wide(LISTS, CLICKED), "part-00000"),
    "text that is called Parquet": Nasty(PLAIN, name="log.parquet", cleaned={}),
    "neither text nor Parquet": refused(b"\x93NUMPY\x01\x00v", "it is not Parquet", name="log.parquet"),
    "a last row of too many values": refused(PLAIN + "5,1,a,0,9,9\n", "line 10: 6 values where the header has 4"),
    "a click on nothing at all": refused(
        PLAIN.replace(",1\n", ",0\n") + "1,,,1\n", "the click on nothing, in an impression that shows a, b"
    ),
    "UTF-16": refused(PLAIN.encode("utf-16"), "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 without a mark": refused(PLAIN.encode("utf-16-le"), "UTF-16", "iconv"),
    "Latin-1": refused(
        PLAIN.replace("1,2,b", "1,2,thé").encode("latin-1"), "line 3: not UTF-8", "0xe9", "iconv -f ISO-8859-1"
    ),
    "an empty file": refused("", "log.csv is empty"),
    "a file of blanks": refused("\n\n", "log.csv is empty"),
    "a header alone": refused(HEAD, "the log has no rows"),
    "no header": refused(PLAIN.removeprefix(HEAD), "'1' and '1'", "is there no header above the first row?"),
    "no header, and no value twice": refused("7,1,a,0\n7,2,b,0\n", "no column 'impression'", "is there no header"),
    "a remark above the header": refused("# of 2026\n" + PLAIN, "line 2: 4 values", "'# of 2026' must be the header"),
    "lines of JSON": refused('{"impression": 1, "slot": 1}\n', "is JSON: make it Parquet", name="log.jsonl"),
    "JSON that is called csv": refused('[{"impression": 1}]', "is JSON: make it Parquet"),
    "a SQLite database": refused(b"SQLite format 3\0" + bytes(84), "sqlite3 -csv -header", name="log.db"),
    "an Excel file": refused(b"PK\x03\x04" + bytes(100), "Excel", "save it as CSV"),
    "a row of five values": refused(
        PLAIN.replace("1,2,b,0", "1,2,tea, green,0"), "line 3: 5 values where the header has 4", "double quotes"
    ),
    "a row of three values": refused(PLAIN.replace("3,1,a,0", "3,1,a"), "line 6: 3 values where the header has 4"),
    "a quote that is never closed": refused(PLAIN.replace("3,1,a,0", '3,1,"a,0'), "quote"),
    "another separator in the second file": counted(
        {"1.csv": PLAIN[:60], "2.csv": (HEAD + PLAIN[60:]).replace(",", ";")}, "folder"
    ),
    "a file of another kind in the folder": refused(
        {"1.csv": PLAIN, "2.txt": PLAIN}, "2.txt", "1 of 2", "pattern", name="folder"
    ),
    "a file that lacks a column of the others": refused(
        {"1.csv": PLAIN, "2.csv": PLAIN.replace("clicked", "hit")},
        "clicked must be a column of every file of the log, got none in 2.csv (1 of 2 files)",
        name="folder",
    ),
    "a file that lacks a column that nobody asks for": counted(
        {"1.csv": PLAIN[:61], "2.csv": HEAD.strip() + ",more\n" + PLAIN[61:].replace("\n", ",x\n")}, "folder"
    ),
    "what Spark leaves in a folder": counted({"1.csv": PLAIN, "_SUCCESS": "", ".1.csv.crc": "x"}, "folder"),
    # columns
    "clicked twice": refused(
        "impression,slot,item,clicked,clicked\n1,1,a,0,1\n", "2 columns that are called 'clicked' and 'clicked'"
    ),
    "Clicked beside clicked": refused(
        "impression,slot,item,Clicked,clicked\n1,1,a,0,1\n", "'Clicked' and 'clicked'", "rename or remove"
    ),
    "Clicked and no clicked": refused(PLAIN.replace("clicked", "Clicked"), "no column 'clicked'", "is it 'Clicked'?"),
    "other columns twice over": counted(
        PLAIN.replace("clicked\n", "clicked,,\n").replace("0\n", "0,,\n").replace("1\n", "1,,\n")
    ),
    "clicks that are all empty": refused(
        HEAD + "1,1,a,\n1,2,b,\n", "clicked is empty in all 2 rows: is it the column of the clicks?"
    ),
    "structs for items": refused(
        pa.table({"impression": [1], "slot": [1], "item": [{"id": "a"}], "clicked": [1]}),
        "item must hold ids, got a column of struct",
        "item.id",
    ),
    # clicks that would have been lost
    "click rows without a slot": counted(
        HEAD + "1,1,a,0\n1,2,b,0\n1,,a,1\n2,1,b,0\n2,2,a,0\n2,,b,1\n" + PLAIN.partition("2,2,a,0\n")[2], joined_clicks=2
    ),
    "click rows without an item": counted(
        HEAD + "1,1,a,0\n1,2,b,0\n1,1,,1\n2,1,b,0\n2,2,a,0\n2,1,,1\n" + PLAIN.partition("2,2,a,0\n")[2], joined_clicks=2
    ),
    "click rows of other impressions": refused(
        PLAIN.replace(",1\n", ",0\n") + "91,,a,1\n92,,b,1\n", "none of them could be counted", "click on 'a'"
    ),
    "click rows without an impression": refused(
        PLAIN.replace(",1\n", ",0\n") + ",1,a,1\n", "none of them could be counted", "need the impression"
    ),
    "lists with commas": counted(quoted([",".join(one) for one in LISTS], ["a", "b", "", ""])),
    "lists with semicolons": counted(quoted(["; ".join(one) for one in LISTS], ["a", "b", "", ""])),
    "clicked as a place in the list": refused(
        wide(LISTS, [0, 0, None, None]),
        "none of them could be counted",
        "click on '0', in an impression that shows a, b",
        "not its place",
    ),
    "clicked as a place from 1, everywhere": refused(
        wide(LISTS, [1, 2, 1, 2]), "no impression that can be counted", "click on '1'", "not its place"
    ),
    "ids that begin anew on each page": refused(
        HEAD + "1,1,a,1\n1,2,b,0\n1,1,c,0\n1,2,d,0\n",
        "1 impressions with two items in one slot",
        "name the column of the pages (placement)",
    ),
    "clicked as flags": counted(wide(LISTS, [[True, False], [True, False], [False, False], None])),
    "several clicks as flags, which have no order": counted(
        wide([*LISTS, ["a", "b"]], [[True, False], [True, False], [False, False], None, [True, True]]),
        multi_click_drop=1,
    ),
    "lists of structs": refused(wide(STRUCTS, CLICKED), "items must hold ids", "as in items.id"),
    "lists of structs, with the field named": counted(wide(STRUCTS, CLICKED), columns=Columns(item="items.id")),
    "clicks within lists of structs": counted(
        wide(
            [
                [one | {"hit": row < 2 and place == 0} for place, one in enumerate(list_)]
                for row, list_ in enumerate(STRUCTS)
            ],
            CLICKED,
        ),
        columns=Columns(item="items.id", clicked="items.hit"),
    ),
    "structs as text": refused(wide([json.dumps(one) for one in STRUCTS], CLICKED), "items must be ids", '[{"id": "a"'),
    "every click is one of several": refused(
        HEAD + "1,1,a,1\n1,2,b,1\n2,1,a,0\n2,2,b,0\n", "none of them could be counted", "order or the time"
    ),
    "two clicks on what was not shown": Nasty(
        wide([*LISTS, ["a", "b"]], [["a"], ["b"], [], [], ["x", "y"]]), cleaned={"click_not_shown": 1}
    ),
    "all lists empty": refused(
        wide(pa.array([[], []], pa.list_(pa.string())), pa.array([None, None], pa.string())),
        "none of the log's 2 lists has an item",
    ),
    # times
    "a time in another zone": Nasty(
        HEAD.strip() + ",when\n1,1,a,1,2026-01-01T10:00:00+02:00\n1,2,b,1,2026-01-01 09:30:00\n2,1,a,0,\n2,2,b,0,\n",
        columns=Columns(order="when"),
        cleaned={"multi_click_first": 1},
        clicks=[[1, 0], [0, 0]],
        passes=[[1, 0], [0, 1]],
    ),
    "a zone behind UTC, in minutes": Nasty(
        HEAD.strip() + ",when\n1,1,a,1,2026-01-01T10:00:00-0130\n1,2,b,1,2026-01-01 11:00:00Z\n2,1,a,0,\n2,2,b,0,\n",
        columns=Columns(order="when"),
        cleaned={"multi_click_first": 1},
        clicks=[[0, 0], [0, 1]],
        passes=[[1, 0], [0, 1]],
    ),
    "a date with dots": refused(
        HEAD.strip() + ",when\n1,1,a,1,01.08.2026\n",
        "when must be",
        "such as 2026-08-31",
        "'01.08.2026'",
        columns=Columns(order="when"),
    ),
    # names
    "names of all sorts": Nasty(
        HEAD + '1,1,"tea, black",1\n1,2,"say ""hi""",0\n2,1,日本茶,0\n2,2,"tea, black",0\n3,1, x ,0\n',
        cleaned={},
        ids=(" x ", 'say "hi"', "tea, black", "日本茶"),
        clicks=[[0, 0, 1, 0], [0, 0, 0, 0]],
        passes=[[1, 0, 0, 1], [0, 0, 1, 0]],
    ),
    "names that look like nothing": Nasty(
        HEAD + "1,1,NULL,1\n1,2,nan,0\n2,1,None,0\n",
        cleaned={"items_named_nothing": 3},
        ids=("NULL", "None", "nan"),
        clicks=[[1, 0, 0], [0, 0, 0]],
        passes=[[0, 1, 0], [0, 0, 0]],
    ),
    "an empty name in quotes": Nasty(
        HEAD + '1,1,a,1\n1,2,"",0\n2,1,a,0\n',
        cleaned={"null_item": 1},
        ids=("a",),
        clicks=[[1]],
        passes=[[1]],
    ),
    "ids of thirty digits": Nasty(
        HEAD + f"{10**30},1,{10**30},1\n{10**30},2,b,0\n{10**30 + 1},1,b,0\n",
        cleaned={},
        ids=(str(10**30), "b"),
        clicks=[[1, 0], [0, 0]],
        passes=[[0, 1], [0, 0]],
    ),
    "a single row": Nasty(HEAD + "1,1,a,1\n", cleaned={}, ids=("a",), clicks=[[1]], passes=[[0]]),
    "times that are words": Nasty(
        HEAD.strip() + ",when\n1,1,a,1,2026-01-01 10:00:00\n1,2,b,0,None\n2,1,a,0,NaN\n2,2,b,0,-\n",
        columns=Columns(order="when"),
        cleaned={},
        clicks=[[1, 0], [0, 0]],
        passes=[[1, 0], [0, 1]],
    ),
    "a name with a comma in a list with bars": Nasty(
        wide(["tea, black|b", "b|tea, black"], ["tea, black", ""]),
        cleaned={},
        ids=("b", "tea, black"),
        clicks=[[0, 1], [0, 0]],
        passes=[[1, 0], [0, 1]],
    ),
    # a log that was counted already
    "weights": Nasty(
        wide([["a", "b"], ["a", "b"], ["b", "a"]], ["a", None, None], n=[5, 20, 7]),
        columns=Columns(weight="n"),
        cleaned={},
        clicks=[[5, 0], [0, 0]],
        passes=[[20, 7], [7, 20]],
    ),
    "billions": Nasty(
        "items,clicked,n\na|b,a,5000000000\nb|a,,70000000000\n",
        columns=Columns(weight="n"),
        cleaned={},
        clicks=[[5_000_000_000, 0], [0, 0]],
        passes=[[0, 70_000_000_000], [70_000_000_000, 0]],
    ),
    "a weight of nothing": Nasty(
        wide([["a", "b"], ["a", "b"], ["b", "a"]], ["a", None, None], n=[5, 20, 0]),
        columns=Columns(weight="n"),
        cleaned={"null_weight": 2},
        clicks=[[5, 0], [0, 0]],
        passes=[[20, 0], [0, 20]],
    ),
    "a weight below nothing": refused(
        wide([["a", "b"]], ["a"], n=[-3]), "n must be a number of impressions, got -3", columns=Columns(weight="n")
    ),
    "half a weight": refused(
        wide([["a", "b"]], ["a"], n=[1.5]),
        "n must be a whole number of impressions, got '1.5'",
        columns=Columns(weight="n"),
    ),
}


def write(nasty: Nasty, folder: Path) -> Path:
    path = folder / nasty.name
    if isinstance(nasty.log, dict):
        path.mkdir()
        for name, text in nasty.log.items():
            (path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    elif isinstance(nasty.log, pa.Table):
        path = path.with_suffix(".parquet") if nasty.name == "log.csv" else path
        pq.write_table(nasty.log, path)
    else:
        path.write_bytes(nasty.log.encode() if isinstance(nasty.log, str) else nasty.log)
    return path


def check_nasty(nasty: Nasty, folder: Path, engine: str = "duckdb") -> None:
    """Count the log, or be rejected, as expected."""
    path = write(nasty, folder)
    if nasty.said:
        with pytest.raises(SlotwiseError) as caught:
            tally(path, nasty.columns, engine=engine)
        message = str(caught.value)
        assert all(words in message for words in nasty.said), message
        assert "\n" not in message
        return
    found = tally(path, nasty.columns, engine=engine)
    assert (found.item_ids, found.clicks.tolist(), found.passes.tolist()) == (nasty.ids, nasty.clicks, nasty.passes)
    assert {rule: count for rule, count in found.cleaning.items() if count and rule not in SIZES} == nasty.cleaned


@pytest.mark.parametrize("name", NASTY)
def test_nasty_logs(name: str, tmp_path: Path) -> None:
    check_nasty(NASTY[name], tmp_path)


def test_there_are_fifty() -> None:
    assert len(NASTY) >= 50


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (
            pd.DataFrame({"impression": [1, 1], "slot": [1, 2], "item": [7, "b"], "clicked": [0, 1]}),
            "item must hold values of one kind, got 7 .int. and 'b' .str.: frame.'item'. = frame.'item'..astype.str.",
        ),
        (pd.DataFrame([[1, 1, "a", 0, 1]], columns=["impression", "slot", "item", "clicked", "clicked"]), "2 columns"),
        (pd.DataFrame([[1, 1, "a", 0, 1]], columns=["impression", "slot", "item", "Clicked", "clicked"]), "2 columns"),
    ],
)
def test_nasty_frames(frame: pd.DataFrame, said: str) -> None:
    with pytest.raises(SlotwiseError, match=said):
        tally(frame)
