"""The statistical tests fail on broken code: each fault is put into a copy, and a named test must notice it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    what: str
    file: str
    sound: str
    broken: str
    test: str
    #: whether the test needs compiled code to be over soon; most are quicker without than the compiler would be
    compiled: bool = False


FAULTS = [
    Fault(
        "users click a little more often than they should",
        "choice/mnl.py",
        "left = rng.random() * total - 1.0",
        "left = rng.random() * total - 0.95",
        "tests/choice/test_mnl.py::test_draws_have_the_choice_probabilities",
    ),
    Fault(
        "epochs end a little too late",
        "choice/mnl.py",
        "left = rng.random() * total - 1.0",
        "left = rng.random() * total - 0.95",
        "tests/choice/test_mnl.py::test_clicks_of_an_epoch_are_geometric",
    ),
    Fault(
        "a tie for the last place favours those that were there",
        "lists/top_items.py",
        "drawn = first + below(seen, rng)",
        "drawn = first + below(seen + 1, rng)",
        "tests/lists/test_top_items.py::test_ties_are_broken_uniformly",
    ),
    Fault(
        "a shuffle never leaves an entry in its place",
        "rng.py",
        "j = start + below(i - start + 1, rng)",
        "j = start + below(i - start, rng)",
        "tests/test_rng.py::test_shuffle_is_uniform_and_stays_within_its_bounds",
    ),
    Fault(
        "equal assignments go by the items' numbers",
        "lists/assigned.py",
        "shuffle(room.item_order, 0, items, rng)",
        "pass",
        "tests/lists/test_assigned.py::test_no_label_is_favoured_among_equals",
    ),
    Fault(
        "equal items go by their numbers in a list for a goal",
        "lists/for_goal.py",
        "        number = rng.random()\n",
        "        number = float(item)\n",
        "tests/lists/test_for_goal.py::test_no_label_is_favoured_among_equals",
    ),
    Fault(
        "an empty slot draws clicks",
        "choice/mnl.py",
        "    for slot in range(last):\n        if not (may_be_empty and ranking[slot] == EMPTY):\n",
        "    for slot in range(last):\n        if may_be_empty:\n",
        "tests/lists/test_valued.py::test_draws_skip_empty_slots",
    ),
    Fault(
        "a no-click counts twice for the first slot",
        "tally.py",
        "passes[slot, ranking[slot]] += 1\n",
        "passes[slot, ranking[slot]] += 2 if slot == 0 else 1\n",
        "tests/test_tally.py::test_clicks_less_gamma_passes_is_a_martingale_under_any_policy[toprank]",
    ),
    Fault(
        "TopRank starts from the items' numbers",
        "policies/toprank.py",
        "drawn = slot + below(policy.stop[order[slot]] - slot, rng)",
        "drawn = slot",
        "tests/policies/test_conformance.py::test_the_first_ranking_favours_no_item[toprank]",
    ),
    Fault(
        "Epoch-UCB's bound is twice as wide",
        "bounds/epoch_index.py",
        "WIDTH = 4.0",
        "WIDTH = 8.0",
        "tests/simulate/test_regret.py::test_regret_is_what_was_recorded[b-epoch-ucb]",
        compiled=True,
    ),
    Fault(
        "the exact sampler gives doing nothing half its weight",
        "belief/gibbs.py",
        "        total = 1.0\n",
        "        total = 0.5\n",
        "tests/belief/test_gibbs.py::test_the_auxiliary_variables_stand_for_passes",
    ),
    Fault(
        "the sampled bias has a fifth too little spread",
        "belief/learned.py",
        "inverse_root(belief.cholesky, belief.bias_spread, belief.spread)",
        "inverse_root(belief.cholesky, 0.8 * belief.bias_spread, belief.spread)",
        "tests/belief/test_learned.py::test_the_spread_is_a_root_of_the_inverse_curvature[1.0]",
    ),
    Fault(
        "an item is chosen by bounds at twice their level",
        "policies/randomised_moss.py",
        "min(level, math.log(1.0 + fair / shows[item])) / rate[item]",
        "min(2.0 * level, math.log(1.0 + fair / shows[item])) / rate[item]",
        "tests/policies/test_randomised_moss.py::test_sets_are_shown_as_often_as_the_definition_says[[0, 1]]",
    ),
    Fault(
        "a pairwise bound is a little too low",
        "bounds/pairwise.py",
        "math.expm1(min(level / trials, 700.0))",
        "math.expm1(min(0.99 * level / trials, 700.0))",
        "tests/bounds/test_pairwise.py::test_a_bound_is_missed_with_probability_at_most_exp_minus_the_level",
    ),
    Fault(
        "the position bias is taken for known once it is estimated",
        "estimate/pairwise.py",
        "variance = own + inverse[slot, slot] - 2.0 * spread[slot]",
        "variance = 1.0 / model.total[item]",
        "tests/policies/test_pairwise_ucb_upb.py::test_a_wrong_order_of_the_slots_is_not_kept",
    ),
    Fault(
        "the estimate seems surer than it is",
        "estimate/pairwise.py",
        "(1.0 + odds) * (1.0 + odds) / (odds * variance)",
        "1.6 * (1.0 + odds) * (1.0 + odds) / (odds * variance)",
        "tests/estimate/test_pairwise.py::test_errors_are_no_larger_than_the_variance_says_and_bounds_hold",
        compiled=True,
    ),
    Fault(
        "standard errors from a tally's equations are a fifth too small",
        "estimate/sandwich.py",
        "return np.sqrt(of_items), np.sqrt(of_slots)",
        "return 0.8 * np.sqrt(of_items), 0.8 * np.sqrt(of_slots)",
        "tests/estimate/test_intervals.py::test_nine_in_ten_hold_the_truth[scaling-at random]",
    ),
    Fault(
        "standard errors of maximum likelihood are a fifth too small",
        "estimate/joint.py",
        "variance[free] = _diagonal_of_inverse(matrix)",
        "variance[free] = 0.64 * _diagonal_of_inverse(matrix)",
        "tests/estimate/test_intervals.py::test_nine_in_ten_hold_the_truth[maximum-likelihood-at random]",
        compiled=True,
    ),
    Fault(
        "what is believed is as sure as if the clicks were Poisson and the bias known",
        "belief/posterior.py",
        "lambda: sandwich.log_errors(beside=None if told else 0)",
        "lambda: (1.0 / np.sqrt(curvature.items), np.zeros_like(bias))",
        "tests/belief/test_posterior.py::test_nine_in_ten_hold_the_truth[most visits click-told]",
    ),
    Fault(
        "a learned bias leaves items on a scale of their own",
        "belief/posterior.py",
        "Estimate(alpha * scale, bias / scale,",
        "Estimate(alpha, bias / scale,",
        "tests/belief/test_posterior.py::test_nine_in_ten_hold_the_truth[few visits click-learned]",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_is_noticed(tmp_path: Path, fault: Fault) -> None:
    shutil.copytree(ROOT / "src" / "slotwise", tmp_path / "slotwise")
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source = tmp_path / "slotwise" / fault.file
    text = source.read_text()
    assert text.count(fault.sound) == 1
    source.write_text(text.replace(fault.sound, fault.broken))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", fault.test],
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "NUMBA_DISABLE_JIT": "0" if fault.compiled else "1",
            # one test needs no plugin, and to load them all takes longer than most of these tests
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "AssertionError" in done.stdout
