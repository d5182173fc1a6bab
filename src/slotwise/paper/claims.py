"""The claims of the paper about its experiments, each as a test of the reproduced numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.simulation import Results, Run

KNOWN_BIAS = ("epoch-ucb", "epoch-ucb-w", "pbm-ucb")
#: how much more regret is "far more", and how much is "not much worse"
FAR_MORE = 1.5
NOT_MUCH_WORSE = 1.25
#: a trajectory is linear at the end if its last quarter gains this share of the gain of its second quarter
LINEAR = 0.8
#: a policy still explores while another exploits if it gains this many times as much in the last quarter
STILL_EXPLORING = 5.0


@dataclass(frozen=True)
class ClaimVerdict:
    """Whether a claim held on one problem, and the numbers."""

    problem: str
    reproduced: bool
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, paraphrased, and its test."""

    id: str
    statement: str
    criterion: str
    problems: tuple[str, ...]
    test: Callable[[Results], tuple[bool, str]]

    def check(self, results: Mapping[str, Results]) -> list[ClaimVerdict]:
        """Return a verdict for each of the claim's problems with results."""
        return [ClaimVerdict(name, *self.test(results[name])) for name in self.problems if name in results]


def _mean(run: Run) -> str:
    error = f" ± {run.standard_error:.0f}" if len(run.final_regret) > 1 else ""
    return f"{run.mean:,.0f}{error}"


def _gain(run: Run, start: float, stop: float) -> float:
    """Return the mean regret gained between two fractions of the horizon."""
    rounds = np.concatenate([[0], run.rounds])
    regret = np.concatenate([[0.0], run.trajectory])
    horizon = run.rounds[-1]
    return float(np.interp(stop * horizon, rounds, regret) - np.interp(start * horizon, rounds, regret))


def _known_bias_is_best(results: Results) -> tuple[bool, str]:
    ours = min(("epoch-ucb", "pbm-ucb"), key=lambda label: results[label].mean)
    best = min(results, key=lambda label: results[label].mean)
    # as good as the best if the difference is within two standard errors of it
    error = np.hypot(results[ours].standard_error, results[best].standard_error)
    held = ours == best or results[ours].mean - results[best].mean < 2 * error
    return bool(held), f"{ours} {_mean(results[ours])}; lowest is {best} {_mean(results[best])}"


def _ratio(above: str, below: str, least: float) -> Callable[[Results], tuple[bool, str]]:
    def test(results: Results) -> tuple[bool, str]:
        ratio = results[above].mean / results[below].mean
        return ratio > least, f"{above} {_mean(results[above])}, {below} {_mean(results[below])}: {ratio:.2f} times"

    return test


def _unknown_bias_keeps_up(results: Results) -> tuple[bool, str]:
    best = min(KNOWN_BIAS, key=lambda label: results[label].mean)
    star = results["epoch-ucb-upb-star"]
    ratio = star.mean / results[best].mean
    evidence = f"epoch-ucb-upb-star {_mean(star)}, {best} {_mean(results[best])}: {ratio:.2f} times"
    return ratio < NOT_MUCH_WORSE, evidence


def _toprank_is_linear(results: Results) -> tuple[bool, str]:
    second, last = _gain(results["toprank"], 0.25, 0.5), _gain(results["toprank"], 0.75, 1.0)
    return last > LINEAR * second, f"gained {second:.0f} in the second quarter, {last:.0f} in the last"


def _mnl_bandit_still_explores(results: Results) -> tuple[bool, str]:
    bandit, star = (_gain(results[label], 0.75, 1.0) for label in ("mnl-bandit", "epoch-ucb-upb-star"))
    evidence = f"in the last quarter mnl-bandit gained {bandit:.0f}, epoch-ucb-upb-star {star:.0f}"
    return bandit > STILL_EXPLORING * star, evidence


CLAIMS = (
    Claim(
        "known-bias-best",
        "Epoch-UCB and PBM-UCB, which know the position biases, do best in general.",
        "one of the two has the lowest mean regret, or is within two standard errors of it",
        ("a", "b", "c"),
        _known_bias_is_best,
    ),
    Claim(
        "w-conservative",
        "Epoch-UCB-W, with the wider bounds, is far more conservative than Epoch-UCB.",
        f"more than {FAR_MORE} times the regret",
        ("a", "b", "c"),
        _ratio("epoch-ucb-w", "epoch-ucb", FAR_MORE),
    ),
    Claim(
        "w-worse-than-toprank",
        "Epoch-UCB-W is worse even than TopRank, if the slots are in order.",
        "more regret than TopRank",
        ("a",),
        _ratio("epoch-ucb-w", "toprank", 1.0),
    ),
    Claim(
        "upb-conservative",
        "Epoch-UCB UPB, as analysed, is overly conservative.",
        f"more than {FAR_MORE} times the regret of Epoch-UCB* UPB",
        ("a", "b", "c"),
        _ratio("epoch-ucb-upb", "epoch-ucb-upb-star", FAR_MORE),
    ),
    Claim(
        "star-keeps-up",
        "Epoch-UCB* UPB, which learns the biases, is not much worse than the best policy that knows them.",
        f"less than {NOT_MUCH_WORSE} times its regret",
        ("a", "b", "c"),
        _unknown_bias_keeps_up,
    ),
    Claim(
        "toprank-linear",
        "TopRank's regret is linear if the slots are not in order.",
        f"its last quarter gains more than {LINEAR} of the gain of its second quarter",
        ("b", "c"),
        _toprank_is_linear,
    ),
    Claim(
        "mnl-bandit-explores",
        "With many items, MNL-bandit still explores long after Epoch-UCB* UPB has begun to exploit.",
        f"more than {STILL_EXPLORING:g} times the regret in the last quarter",
        ("c",),
        _mnl_bandit_still_explores,
    ),
)
