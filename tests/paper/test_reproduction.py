"""The paper's experiments end to end, in the quick version: what is in the files, and what interruptions do to them."""

from __future__ import annotations

import csv
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from slotwise import simulate
from slotwise.core.errors import InvalidInput, UnknownName, UnwritableFile
from slotwise.environments import paper_problems
from slotwise.paper import reproduction
from slotwise.paper.claims import CLAIMS
from slotwise.paper.paper_figures import COLOURS, names
from slotwise.paper.paper_tables import Plan
from slotwise.paper.result_cache import ResultCache
from slotwise.simulation.runner import Replication
from tests.commands import COMMAND, slotwise


class QuickRun(NamedTuple):
    """A quick run that was not interrupted: its folder and problems."""

    out: Path
    problems: str


@pytest.fixture(scope="module", params=["b", pytest.param("abc", marks=pytest.mark.long)])
def quick_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> QuickRun:
    """One problem for `make test`, all of them for `make test-all`: drawing their figures takes long."""
    out, problems = tmp_path_factory.mktemp("paper"), request.param
    chosen = [word for problem in problems for word in ("--problem", problem)]
    done = slotwise("paper", "--quick", "--replications", "2", *chosen, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert f"Read {out / 'report.html'}" in done.stdout
    assert all(claim.statement in done.stdout for claim in CLAIMS if set(claim.problems) & set(problems))
    assert all(f"({name}) {id}" in done.stderr for name in problems for id in reproduction.POLICIES), (
        "the time of each policy"
    )
    return QuickRun(out, problems)


def test_files_hold_the_results_of_the_simulator(quick_run: QuickRun) -> None:
    for problem in quick_run.problems:
        _check_files(quick_run.out, problem)


def _check_files(folder: Path, problem: str) -> None:
    chosen = paper_problems()[problem]
    table = pq.read_table(folder / f"regret_{problem}.parquet").to_pandas()
    rounds = chosen.rounds // 10
    for id in ("epoch-ucb", "toprank", "mnl-bandit"):
        run = simulate(chosen.users, id, rounds=rounds, replications=2, seed=0)[id]
        stored = table[table.policy == id].pivot(index="replication", columns="round", values="regret")
        assert np.array_equal(stored.to_numpy(), run.regret)
    assert set(table.policy) == set(reproduction.POLICIES)
    with open(folder / f"final_regret_{problem}.csv") as file:
        rows = {row["policy"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(reproduction.POLICIES)
    markdown = (folder / f"final_regret_{problem}.md").read_text()
    for id, row in rows.items():
        final = table[(table.policy == id) & (table["round"] == rounds)].regret
        assert float(row["mean"]) == pytest.approx(final.mean())
        # Student's t with one degree of freedom: 12.706 standard errors
        assert float(row["high"]) - float(row["mean"]) == pytest.approx(12.7062 * final.std() / 2**0.5, rel=1e-4)
        assert f"| {id} | {final.mean():,.1f} |" in markdown


def test_figures_are_pictures(quick_run: QuickRun) -> None:
    for name in (*(f"regret_{problem}" for problem in quick_run.problems), "bounds", "coverage"):
        assert (quick_run.out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (quick_run.out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        svg = (quick_run.out / f"{name}.svg").read_text()
        assert "<svg" in svg
        if name != "coverage":
            assert all(colour.lower() in svg.lower() for colour in COLOURS.values())


def test_the_report_is_complete_and_needs_no_other_file(quick_run: QuickRun) -> None:
    page = (quick_run.out / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == len(quick_run.problems) + 2
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    for words in ("seed 0", "quick run", "Settings", "numba", "This run took", "Corollary 1", "Proposition 1"):
        assert words in page
    assert all(names()[id] in page for id in reproduction.POLICIES)
    verdicts = sum(len(set(claim.problems) & set(quick_run.problems)) for claim in CLAIMS)
    assert page.count("reproduced</td>") == verdicts


def test_coverage_is_measured_for_every_interval_problem_and_epoch_policy(quick_run: QuickRun) -> None:
    with open(quick_run.out / "coverage.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(quick_run.problems) * 5 * 6
    assert {row["interval"] for row in rows} >= {"Theorem 1", "Lemma 3", "Theorem 2", "Corollary 1"}
    for row in rows:
        assert 0 <= float(row["covered"]) <= 1
        assert float(row["median_relative_width"]) > 0


def _arrays(folder: Path) -> dict[str, list[Any]]:
    found = {}
    for file in sorted(folder.rglob("*.npz")):
        with np.load(file) as stored:
            found[str(file.relative_to(folder))] = [stored[key].tolist() for key in ("regret", "clicks", "passes")]
    return found


#: the command, killed by itself as soon as so many replications are kept: nobody has to be quick enough to kill it
KILLED = """
import os, signal, sys
from slotwise.cli import main
from slotwise.paper.result_cache import ResultCache
save, left = ResultCache.save, [int(sys.argv.pop(1))]
def save_or_die(*arguments):
    save(*arguments)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
ResultCache.save = save_or_die
main()
"""


@pytest.mark.long
def test_a_run_killed_half_way_ends_bit_identical(tmp_path: Path) -> None:
    arguments = ["paper", "--quick", "--problem", "b", "--replications", "2", "--out"]
    assert slotwise(*arguments, str(tmp_path / "whole")).returncode == 0
    killed = [sys.executable, "-c", KILLED, "10", *arguments, str(tmp_path / "killed")]
    assert subprocess.run(killed, capture_output=True, check=False).returncode == -signal.SIGKILL
    assert len(list((tmp_path / "killed").rglob("*.npz"))) == 10
    assert not (tmp_path / "killed" / "report.html").exists()
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "killed").rglob("*.npz")}
    assert slotwise(*arguments, str(tmp_path / "killed")).returncode == 0
    assert all(file.stat().st_mtime_ns == stamp for file, stamp in before.items()), "nothing was computed twice"
    assert _arrays(tmp_path / "killed") == _arrays(tmp_path / "whole")
    for name in ("regret_b.parquet", "regret_b.png", "coverage.csv", "claims.csv"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is kept of replications: drawing takes most of the time of a quick run."""

    def save(_: Any, folder: Path, name: str) -> None:
        (folder / f"{name}.svg").write_text("<svg/>")

    monkeypatch.setattr(reproduction, "save", save)


@pytest.mark.usefixtures("no_figures")
@pytest.mark.long
def test_damaged_and_foreign_files_are_named_and_computed_again(tmp_path: Path) -> None:
    plan = Plan(problems=("b",), replications=3, out=tmp_path, quick=True)
    reproduction.run(plan, progress=False, say=lambda line: None)
    wanted = _arrays(tmp_path)
    folder = tmp_path / "replications" / "b"
    cut, flipped, foreign, other = (
        folder / "epoch-ucb" / "0001.npz",
        folder / "toprank" / "0000.npz",
        folder / "pbm-ucb" / "0002.npz",
        folder / "mnl-bandit" / "0001.npz",
    )
    cut.write_bytes(cut.read_bytes()[:300])
    flipped.write_bytes(
        bytes(byte ^ 0x55 if 400 < place < 420 else byte for place, byte in enumerate(flipped.read_bytes()))
    )
    shutil.copy(folder / "toprank" / "0002.npz", foreign)
    shutil.copy(folder / "mnl-bandit" / "0000.npz", other)
    said: list[str] = []
    reproduction.run(plan, progress=False, say=said.append)
    complaints = [line for line in said if "computed again" in line]
    assert len(complaints) == 4
    for file, words in ((cut, "damaged"), (flipped, "damaged"), (foreign, "another run"), (other, "another run")):
        assert any(str(file) in line and words in line for line in complaints)
    assert _arrays(tmp_path) == wanted


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    store = ResultCache(tmp_path, {"seed": 1})
    store.save("0", Replication(0, np.ones(2), np.ones((1, 1), int), np.ones((1, 1), int), 0.1).numbers())
    assert store.load("0")[0] is not None
    assert store.load("1") == (None, "")
    kept, complaint = ResultCache(tmp_path, {"seed": 2}).load("0")
    assert kept is None
    assert "another run" in complaint


@pytest.mark.long
@pytest.mark.usefixtures("no_figures")
def test_full_disk_is_reported_and_loses_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(problems=("b",), replications=2, out=tmp_path, quick=True)
    save, count = ResultCache.save, [0]

    def until_full(self: ResultCache, name: str, numbers: dict[str, Any]) -> None:
        count[0] += 1
        if count[0] > 3:
            raise OSError(28, "No space left on device")
        save(self, name, numbers)

    with monkeypatch.context() as full:
        full.setattr(ResultCache, "save", until_full)
        with pytest.raises(UnwritableFile, match="No space left on device; finished replications are kept"):
            reproduction.run(plan, progress=False, say=lambda line: None)
    assert len(_arrays(tmp_path)) == 3
    reproduction.run(plan, progress=False, say=lambda line: None)
    assert len(_arrays(tmp_path)) == 14


@pytest.mark.long
def test_figures_that_do_not_fit_lose_no_replication(tmp_path: Path) -> None:
    """A real limit on what may be written: replications are far below it, pictures above."""
    command = [str(COMMAND), "paper", "--quick", "--problem", "b", "--replications", "2", "--out", str(tmp_path)]
    limited = ["/bin/sh", "-c", 'ulimit -f 60; exec "$@"', "sh", *command]  # 60 blocks: about 30 kB
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"error: cannot write into {tmp_path}: File too large; finished replications are kept" in done.stderr
    assert "Traceback" not in done.stderr
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npz")}
    assert len(before) == 14
    assert not list(tmp_path.glob("*.png"))
    assert slotwise(*command[1:]).returncode == 0
    assert all(file.stat().st_mtime_ns == stamp for file, stamp in before.items())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--replications", "0"], "replications must be at least 1, got 0"),
        (["--problem", "d"], "unknown problem of the paper 'd': there are a, b, c"),
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--seed", "-1"], "seed must be at least 0, got -1"),
        (["--out", "file/below"], "cannot write into file/below"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "file").write_text("in the way")
    done = slotwise("paper", "--quick", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_plans_are_checked() -> None:
    with pytest.raises(InvalidInput, match="at least one problem, got none"):
        Plan(problems=())
    with pytest.raises(UnknownName):
        Plan(problems=("z",))
