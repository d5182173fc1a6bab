from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from slotwise import MNL, Results, simulate
from slotwise.core.errors import MissingExtra
from slotwise.simulation.policy_run import Run


@pytest.fixture(scope="module")
def results(small: MNL) -> Results:
    return simulate(small, ["epoch-ucb", "pbm-ucb"], rounds=400, replications=6, seed=1, record_at=20)


def test_summaries_are_those_of_the_numbers(results: Results) -> None:
    run = results["epoch-ucb"]
    final = run.regret[:, -1]
    assert run.mean == pytest.approx(final.mean())
    assert run.standard_error == pytest.approx(final.std(ddof=1) / 6**0.5)
    assert run.quantile(0.5) == pytest.approx(np.median(final))
    assert run.trajectory == pytest.approx(run.regret.mean(axis=0))
    assert run.seconds > 0
    assert list(results) == ["epoch-ucb", "pbm-ucb"]


def test_printed_it_is_a_table(results: Results) -> None:
    title, headings, *rows = str(results).splitlines()
    assert title == "Regret after 400 rounds, 6 replications, seed 1"
    assert headings.split()[:2] == ["policy", "mean"]
    assert len({len(line) for line in (headings, *rows)}) == 1
    for row, (label, run) in zip(rows, results.items(), strict=True):
        assert row.split()[:3] == [label, f"{run.mean:,.1f}", f"{run.standard_error:.1f}"]
    assert "array" not in repr(results["epoch-ucb"])


def test_printed_results_fit_a_terminal_with_any_policy_names() -> None:
    long = "thompson-sampling:boldness=1.25,half_life=30000,new_items_at_most=0.25"
    runs = {label: Run(label, np.array([9]), np.full((3, 1), 1_234_567.8), [], 1_234.5) for label in (long, "toprank")}
    title, *lines = str(Results(runs, 1_000_000, 1, 2)).splitlines()
    assert title == "Regret after 1,000,000 rounds, 1 replication, seed 2"
    assert lines[1] == long
    assert all(len(line) <= 80 for line in lines)
    assert len({len(line) for line in lines if line != long}) == 1


def test_the_summary_is_json(results: Results, small: MNL) -> None:
    summary = json.loads(json.dumps(results.to_dict(), allow_nan=False))
    assert summary["policies"]["pbm-ucb"]["final_regret"] == results["pbm-ucb"].final_regret.tolist()
    single = simulate(small, "epoch-ucb", rounds=10).to_dict()
    assert json.loads(json.dumps(single, allow_nan=False))["policies"]["epoch-ucb"]["standard_error"] is None


def test_frame_and_parquet_hold_every_number(results: Results, tmp_path: Path) -> None:
    frame = results.to_frame()
    assert len(frame) == 2 * 6 * 20
    for label, run in results.items():
        table = frame[frame.policy == label].pivot(index="replication", columns="round", values="regret")
        assert np.array_equal(table.to_numpy(), run.regret)
        assert table.columns.tolist() == run.rounds.tolist()
    results.to_parquet(tmp_path / "regret.parquet")
    stored = pq.read_table(tmp_path / "regret.parquet").to_pandas()
    assert stored.regret.tolist() == frame.regret.tolist()
    assert stored.policy.tolist() == frame.policy.tolist()


def test_the_plot_shows_the_results(results: Results) -> None:
    figure = results.plot()
    through_time, at_the_end = figure.axes
    for label, run in results.items():
        (line,) = [line for line in through_time.get_lines() if line.get_label() == label]
        assert np.asarray(line.get_ydata())[1:] == pytest.approx(run.trajectory)
    drawn = np.concatenate([np.asarray(points.get_offsets())[:, 0] for points in at_the_end.collections])
    assert sorted(drawn) == pytest.approx(sorted(np.concatenate([run.final_regret for run in results.values()])))
    heights = {tick.get_text(): tick.get_position()[1] for tick in at_the_end.get_yticklabels()}
    assert heights == {"epoch-ucb": 1, "pbm-ucb": 0}
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("module", "ask", "extra"),
    [("matplotlib.figure", "plot", "plot"), ("pandas", "to_frame", "frames"), ("pyarrow", "to_parquet", "parquet")],
)
def test_an_absent_extra_names_its_install_command(
    results: Results, monkeypatch: pytest.MonkeyPatch, module: str, ask: str, extra: str, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [tmp_path / "x.parquet"] if ask == "to_parquet" else []
    with pytest.raises(MissingExtra, match=rf"pip install 'slotwise\[{extra}\]'"):
        getattr(results, ask)(*arguments)
