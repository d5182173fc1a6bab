"""Tables of measured numbers, from the result files in `docs/data`."""

from __future__ import annotations

import json
import statistics
from typing import Any

from docs.tools.site import ROOT

DATA = ROOT / "docs" / "data"


def traffic() -> str:
    """The views that a page needs, by items, slots and click rate."""
    found = json.loads((DATA / "traffic.json").read_text())
    rates = sorted({row["click_rate"] for row in found["rows"]})
    heads = " | ".join(f"click rate {100 * rate:g} %" for rate in rates)
    lines = [f"| items in slots | {heads} |", "| --- |" + " ---: |" * len(rates)]
    pages = dict.fromkeys((row["items"], row["slots"]) for row in found["rows"])
    cells = {(row["items"], row["slots"], row["click_rate"]): row for row in found["rows"]}
    for items, slots in pages:
        lines.append(f"| {items} in {slots} | {' | '.join(_cell(cells[items, slots, rate]) for rate in rates)} |")
    about = f"Medians of {found['replications']} pages each, policy `{found['policy']}`; in brackets the 90 % quantile."
    return "\n".join(lines) + f"\n\n{about} `python -m research alternatives` measures them."


def _cell(row: dict[str, Any]) -> str:
    return f"{_rounded(row['median'])} ({_rounded(row['most'])})"


def _rounded(views: float) -> str:
    """Two digits.

    >>> _rounded(27_773.5)
    '28,000'
    """
    return f"{float(f'{views:.2g}'):,.0f}"


def peers() -> str:
    """Speed, regret and accuracy of slotwise and other tools."""
    found = json.loads((DATA / "peers.json").read_text())
    ours = found["simulation"][0]
    lines = [
        "| tool | rounds per second | slotwise is faster by | regret | better than random |",
        "| --- |" + " ---: |" * 4,
    ]
    for row in found["simulation"]:
        if "failed" in row:
            lines.append(f"| {row['peer']} | not run: {row['failed']} | | | |")
            continue
        learned = "yes" if row["has_learned"] else "no"
        regret = f"{row['regret']:.0f} ± {row['error']:.0f}"
        lines.append(
            f"| {_tool(row)} | {_rounded(row['rate'])} | {_ratio(ours['rate'] / row['rate'])} | {regret} | {learned} |"
        )
    lines += [
        "",
        "| log | tool | seconds | error of log α | coverage of 95 % intervals |",
        "| --- | --- |" + " ---: |" * 3,
    ]
    for row in found["fitting"]:
        log = row["log"]
        if "failed" in row:
            lines.append(f"| {log} | {row['peer']} | not run: {row['failed']} | | |")
            continue
        coverage = f"{row['coverage']:.2f}" if "coverage" in row else "none given"
        lines.append(f"| {log} | {_tool(row)} | {row['seconds']:.2g} | {row['error']:.3f} | {coverage} |")
    if "services" in found:
        lines += ["", *_services(found["services"])]
    about = f"Commit {found['commit']}, {found['date']}, {found['replications']} runs of {found['rounds']:,} rounds."
    logs = f"The logs have {found['views']:,} views, 20 items and 5 slots. `make peers` measures them."
    return "\n".join(lines) + f"\n\n{about} {logs}"


def _services(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| service | decisions per second | processor time of one, with its database | 99 % at half of that load "
        "| lost after `kill -9` |",
        "| --- |" + " ---: |" * 4,
    ]
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['service']} | not run: {row['failed']} | | | |")
            continue
        times = f"{1e3 * row['processor']:.2f} ms | {1e3 * row['p99']:.0f} ms"
        lines.append(f"| {row['service']} | {_rounded(row['rate'])} | {times} | {row['lost']} |")
    return lines


def _tool(row: dict[str, Any]) -> str:
    return f"{row['peer']} {row['version']}" if "version" in row else f"**{row['peer']}**"


def _ratio(ratio: float) -> str:
    """Two digits.

    >>> _ratio(1.0), _ratio(34.5)
    ('1', '34')
    """
    return f"{float(f'{ratio:.2g}'):,.4g}"


def performance() -> str:
    """What a decision, a start and a worker cost."""
    found = json.loads((DATA / "performance.json").read_text())
    # the clock tells how busy the machine was; processor time hardly does
    on_the_clock = {
        "durable decisions per second, one worker": _rounded(statistics.median(found["decisions"])),
        "median latency at half of that load": _milliseconds(found["latency 0.5"]),
        "99 % latency at half of that load": _milliseconds(found["latency 0.99"]),
    }
    quiet = max(found["load"], found["load afterwards"]) <= found["cores"]
    rows = (on_the_clock if quiet else {}) | {
        "processor time of a durable decision, 20 items": _milliseconds(found["processor 20"]),
        "of one among 1,000 items": _milliseconds(found["processor 1000"]),
        "of one among 100,000 items": _milliseconds(found["processor 100000"]),
        "of a start, 1,000 items": f"{found['start']:.1f} s",
        "of a start with a year of hourly history": f"{found['start with a year']:.1f} s",
        "of compiling after an installation, in the background": f"{found['compiled']:.0f} s",
        "disk per decision, until `slotwise compact`": f"{_rounded(found['bytes'])} bytes",
        "memory of a worker without placements": f"{_rounded(found['memory'])} MB",
    }
    lines = ["| measure | value |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows.items())]
    about = (
        f"One run at commit {found['commit']}, {found['date']}, Python {found['python']}, {found['cores']} cores, "
        f"load {found['load']:g} to {found['load afterwards']:g}. `python -m benchmarks.sizing` measures it."
    )
    busy = "" if quiet else " Other work kept the machine busy, so rates and latencies are left out."
    return "\n".join(lines) + f"\n\n{about}{busy}"


def _milliseconds(seconds: float) -> str:
    """Two digits.

    >>> _milliseconds(0.01234)
    '12 ms'
    """
    return f"{float(f'{1e3 * seconds:.2g}'):g} ms"
