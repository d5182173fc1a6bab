"""The leaderboard's own arithmetic, and that its numbers are those of `simulate`; what it finds is in its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.leaderboard import page as leaderboard_page
from research.leaderboard import scores as leaderboard
from research.leaderboard.leaderboard_environments import KINDS
from research.leaderboard.scores import QUICK, SLOW, BoardCell, BoardSize, cells, play, run, scores, why_not
from slotwise import PolicyTask, simulate
from slotwise.core.errors import InvalidInput
from slotwise.policies import available_policies, default_policy

SMALL = BoardSize(rounds=30, replications=3, seed=5, plainly=True)


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("kind", ["mnl", "pbm", "mixture", "drifting", "late-ubm", "segmented-pbm", "churning-cascade"])
def test_its_numbers_are_those_of_simulate_with_the_same_seed(kind: str) -> None:
    run = simulate(KINDS[kind].make(), "thompson-sampling", rounds=30, replications=3, seed=5, jobs=1, progress=False)
    assert play(kind, "thompson-sampling", SMALL).tolist() == run["thompson-sampling"].final_regret.tolist()


def test_every_policy_is_on_it_wherever_it_can_act() -> None:
    todo = {(cell.kind, cell.policy) for cell in cells(QUICK)}
    labels = [str(variant) for entry in available_policies() for variant in entry.bias_variants if entry.id not in SLOW]
    for kind in KINDS:
        for label in labels:
            assert ((kind, label) in todo) == (why_not(kind, label) is None)
        assert (kind, default_policy().id) in todo
    assert {id for kind, id in todo if kind == "mnl"} == set(labels)
    assert "position_bias" in str(why_not("cascade", "pbm-ts"))
    assert "constraints" in str(why_not("churning", "toprank"))
    with pytest.raises(InvalidInput, match=r"part must be mnl or .*, got 'nml'"):
        cells(QUICK, ["nml"])


def test_it_resumes_from_stored_results_and_rejects_foreign_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = [BoardCell("mnl", id, SMALL) for id in ("toprank", "cascade-ucb1")]
    first = run(todo, tmp_path, jobs=1, progress=False)
    (tmp_path / "cells" / "mnl-toprank.npz").write_bytes(b"half a file")
    played = []

    def counted(*given: Any) -> Any:
        played.append(given[1])
        return play(*given)

    monkeypatch.setattr(leaderboard, "play", counted)
    second = run(todo, tmp_path, jobs=1, progress=False)
    assert played == ["toprank"]
    assert {key: regret.tolist() for key, regret in first.items()} == {
        key: regret.tolist() for key, regret in second.items()
    }


def _made_up() -> leaderboard.Scores:
    """A default that is best where it should be, and two others."""
    regret = {
        "mnl": {"thompson-sampling": 1.0, "unirank": 4.0, "pbm-ts": 2.0},
        "pbm": {"thompson-sampling": 6.0, "unirank": 3.0, "pbm-ts": 1.0},
        "cascade": {"thompson-sampling": 8.0, "unirank": 2.0},
    }
    found = {(kind, id): value * np.array([0.5, 1.5]) for kind, by_id in regret.items() for id, value in by_id.items()}
    return scores(found, BoardSize(rounds=1_000, replications=2))


def test_the_scores_are_per_thousand_rounds_and_relative_to_the_best() -> None:
    made = _made_up()
    assert made.mean["thompson-sampling"] == {"mnl": 1.0, "pbm": 6.0, "cascade": 8.0}
    assert made.tail["unirank"]["pbm"] == pytest.approx(3.0 * 1.4)
    assert made.best("pbm") == "pbm-ts"
    assert made.standing("thompson-sampling", ["pbm", "cascade"]) == pytest.approx((6.0 * 4.0) ** 0.5)
    assert made.standing("pbm-ts", ["cascade"]) == np.inf
    # whoever acts everywhere comes first, whoever loses less before others
    assert list(made.mean) == ["unirank", "thompson-sampling", "pbm-ts"]


def test_the_page_recommends_a_policy_for_a_wrong_model_and_gives_the_loss_of_the_default() -> None:
    text = leaderboard_page.page_of(_made_up())
    assert "Where users do not choose by multinomial logit, use `unirank`" in text
    assert "The default, `thompson-sampling`, loses 4.90 times as much" in text
    assert "position-based: the default loses 6.0, `pbm-ts` 1.0; cascade: the default loses 8.0, `unirank` 2.0" in text
    assert "| `pbm-ts`† | 2.0 (2.8) | **1.0** (1.4) | – |" in text
    figure = leaderboard_page.heat_map(_made_up())
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(shown) == sorted(["4.0", "3.0", "2.0", "1.0", "6.0", "8.0", "2.0", "1.0"])


def test_a_policy_of_ones_own_is_played_like_the_others() -> None:
    class Still:
        def __init__(self, task: PolicyTask) -> None:
            self.slots = task.slots

        def choose(self, rng: np.random.Generator) -> Any:
            return np.arange(self.slots)

        def learn(self, ranking: Any, clicked: int) -> None: ...

    assert play("mnl", Still, SMALL).tolist() == pytest.approx([0.0, 0.0, 0.0])
