from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import comparisons, peer_environments
from benchmarks.peers.comparisons import (
    FITTING_PEERS,
    SERVICE_PEERS,
    SIMULATION_PEERS,
    draw_log,
    random_regret,
)
from benchmarks.peers.drivers.ranking_loop import Choose, Learn, run
from benchmarks.peers.peer_environments import FOLDER, PeerUnavailable, drive, pinned_version
from slotwise import MNL

USERS = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.6, 0.4])


@pytest.mark.parametrize("name", [*SIMULATION_PEERS, *FITTING_PEERS])
def test_every_peer_has_a_driver_and_pins(name: str) -> None:
    assert (FOLDER / "drivers" / f"{name.replace('-', '_')}_driver.py").is_file()
    lines = (FOLDER / "pins" / f"{name}.txt").read_text().split()
    assert all("==" in line for line in lines)
    # PyClick is in no registry: its driver has its method
    assert name == "pyclick" or pinned_version(name)


def test_there_are_no_drivers_without_a_peer() -> None:
    drivers = {path.stem.removesuffix("_driver") for path in (FOLDER / "drivers").glob("*_driver.py")}
    assert drivers == {name.replace("-", "_") for name in (*SIMULATION_PEERS, *FITTING_PEERS)}
    pins = {path.stem for path in (FOLDER / "pins").glob("*.txt")}
    assert pins == {*SIMULATION_PEERS, *FITTING_PEERS, *SERVICE_PEERS}


def _always(shown: list[int], seen: list[tuple[Sequence[int], Sequence[int]]]) -> tuple[Choose, Learn]:
    return lambda: shown, lambda ranking, rewards: seen.append((ranking, rewards))


def test_the_best_list_has_no_regret_and_a_worse_one_the_difference() -> None:
    bias, attractiveness = USERS.position_bias.tolist(), USERS.attractiveness.tolist()
    best = run(lambda *_: _always([1, 2], []), bias, attractiveness, 50, 0)
    assert best == pytest.approx(0.0, abs=1e-12)
    # odds of 0.6 + 0.2 and of 0.2 + 0.2
    worse = run(lambda *_: _always([0, 2], []), bias, attractiveness, 50, 0)
    assert worse == pytest.approx(50 * (0.8 / 1.8 - 0.4 / 1.4))


def test_a_peer_learns_of_one_click_at_most_and_as_often_as_the_model_says() -> None:
    seen: list[tuple[Sequence[int], Sequence[int]]] = []
    run(lambda *_: _always([1, 2], seen), [1.0, 0.5], [0.2, 0.6, 0.4], 4_000, 3)
    rewards = np.array([clicked for _, clicked in seen])
    assert rewards.sum(axis=1).max() == 1
    expected = np.array([0.6, 0.2]) / 1.8
    # four standard errors on each side, for two slots: a false alarm in 8,000
    assert (np.abs(rewards.mean(axis=0) - expected) < 4 * np.sqrt(expected * (1 - expected) / 4_000)).all()


def test_a_list_with_an_item_twice_is_refused() -> None:
    with pytest.raises(AssertionError, match="a list must hold 2 distinct items"):
        run(lambda *_: _always([1, 1], []), [1.0, 0.5], [0.2, 0.6, 0.4], 1, 0)


def test_the_regret_of_random_lists_is_an_average() -> None:
    assert random_regret(MNL(position_bias=[1.0], attractiveness=[0.5, 0.5])) == pytest.approx(0.0)
    assert random_regret(USERS) > 0.0


def test_a_log_has_the_clicks_of_its_users() -> None:
    shown, clicked = draw_log(USERS, 20_000, seed=1)
    assert all(len({*ranking}) == 2 for ranking in shown[:100].tolist())
    first = (shown == [1, 2]).all(axis=1)
    rate = (clicked[first] == 0).mean()
    # four standard errors: a false alarm in 16,000
    assert abs(rate - 0.6 / 1.8) < 4 * np.sqrt(0.6 / 1.8 * 1.2 / 1.8 / first.sum())


def test_a_peer_that_cannot_be_installed_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pins").mkdir()
    (tmp_path / "pins" / "nothing.txt").write_text("./there-is-no-such-package\n")
    monkeypatch.setattr(peer_environments, "FOLDER", tmp_path)
    monkeypatch.setattr(peer_environments, "ENVIRONMENTS", tmp_path / "environments")
    with pytest.raises(PeerUnavailable, match="there-is-no-such-package"):
        drive("nothing")
    with pytest.raises(PeerUnavailable, match="nothing is not in its own file of pins"):
        pinned_version("nothing")


def test_every_log_is_fitted_by_us_and_a_peer_that_fails_has_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> dict[str, object]:
        raise PeerUnavailable("not here")

    monkeypatch.setattr(comparisons, "drive", fails)
    rows = comparisons.compare_fits(2_000, lambda _: None)
    assert {row["log"] for row in rows if row["peer"] == "slotwise"} == {*comparisons.LOGS}
    assert {row["peer"] for row in rows if row.get("failed") == "not here"} == {*FITTING_PEERS}
    # of log α, of which 2,000 views tell little more than the order
    assert all(row["error"] < 0.4 for row in rows if "error" in row)


def test_position_based_visitors_click_as_their_model_says() -> None:
    shown, clicks = comparisons.draw_independent_clicks([1.0, 0.5], np.array([0.9, 0.1, 0.5]), 5_000, seed=2)
    first = shown[:, 0] == 0
    # four standard errors: a false alarm in 16,000
    assert abs(clicks[first, 0].mean() - 0.9) < 4 * np.sqrt(0.09 / first.sum())
