"""Questions of a newcomer, by simulation: how much traffic does a page need, and what do simpler methods cost?

Attractiveness is log-normal with a standard deviation of 0.8, the position bias of slot k is 0.8^(k-1), and both are
scaled so that a random list has the click rate asked for. Every replication is another page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise import MNL, NO_CLICK, simulate
from slotwise.click_models import best_ranking, reward
from slotwise.core.plotting import new_figure
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.policies import default_policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREAD, DECAY = 0.8, 0.8
CLICK_RATES = (0.01, 0.03, 0.1)
#: items and slots
PAGES = ((5, 3), (20, 5), (100, 5))
#: the share of the best list's reward that a page has to reach, and to keep
GOOD = 0.95
#: views of the longest run, at a click rate of 1 %; others have as many expected clicks
MAX_VIEWS = 2_000_000
#: the comparison with simpler methods: the page, the lists of an A/B test, and the views by click rate
ITEMS, SLOTS, LISTS = 20, 5, 10
VIEWS = {0.03: 60_000, 0.3: 6_000}


def page(items: int, slots: int, rate: float, seed: int) -> MNL:
    """A page of random items on which a random list has this click rate."""
    attractiveness = np.exp(np.random.default_rng([seed, items, slots]).normal(0.0, SPREAD, items))
    bias = DECAY ** np.arange(slots)
    odds = rate / (1.0 - rate)
    return MNL(position_bias=bias, attractiveness=attractiveness * odds / (bias.sum() * attractiveness.mean()))


def views_until_good(items: int, slots: int, rate: float, seed: int, views: int) -> float:
    """Views until the lists shown are worth `GOOD` of the best one, on average over each later interval."""
    users = page(items, slots, rate, seed)
    times = np.unique(np.geomspace(100, views, 60).astype(int))
    run = simulate(users, default_policy(), rounds=views, replications=1, seed=seed, record_at=times, progress=False)
    regret = next(iter(run.values())).regret[0]
    lost = np.diff(regret) / np.diff(times)
    bad = np.flatnonzero(lost > (1.0 - GOOD) * reward(users, best_ranking(users)))
    return float(times[bad[-1] + 1]) if len(bad) else float(times[0])


def traffic(replications: int, scale: float = 1.0) -> list[dict[str, Any]]:
    """The median and the 90 % quantile of the views needed, by click rate and page."""
    rows = []
    for items, slots in PAGES:
        for rate in CLICK_RATES:
            views = int(scale * MAX_VIEWS * CLICK_RATES[0] / rate)
            found = [views_until_good(items, slots, rate, seed, views) for seed in range(1, replications + 1)]
            median, most = np.quantile(found, [0.5, 0.9])
            rows.append({"items": items, "slots": slots, "click_rate": rate, "median": median, "most": most})
    return rows


class SortByClickRate:
    """Popularity sort: items by click rate, ignoring slots. Every item starts with the same few views."""

    def __init__(self, task: PolicyTask, *, rate: float) -> None:
        self.slots = task.slots
        self.clicks, self.shown = np.full(task.items, 1.0), np.full(task.items, task.slots / rate)

    def choose(self, rng: np.random.Generator) -> Ranking:
        """The items with the highest click rates."""
        return np.argsort(-self.clicks / self.shown + 1e-12 * rng.random(len(self.shown)))[: self.slots]

    def learn(self, ranking: Ranking, clicked: int) -> None:
        """Count a view of each item, and the click."""
        self.shown[ranking] += 1
        if clicked != NO_CLICK:
            self.clicks[ranking[clicked]] += 1


class BetaThompson(SortByClickRate):
    """Hand-written Thompson sampling: a Beta posterior of each item's click rate, ignoring slots."""

    def choose(self, rng: np.random.Generator) -> Ranking:
        """The items with the highest draws."""
        return np.argsort(-rng.beta(self.clicks, self.shown - self.clicks))[: self.slots]


class ABTest:
    """Ten random lists with equal traffic for the first half, then the one with the most clicks."""

    def __init__(self, task: PolicyTask) -> None:
        self.task, self.lists, self.round = task, list[Ranking](), 0
        #: rounds of the test
        self.length = (task.rounds or 0) // 2
        self.clicks: FloatArray = np.zeros(LISTS)

    def choose(self, rng: np.random.Generator) -> Ranking:
        """The next list of the test, or its winner."""
        if not self.lists:
            self.lists = [rng.permutation(self.task.items)[: self.task.slots] for _ in range(LISTS)]
        is_over = self.round >= self.length
        return self.lists[int(self.clicks.argmax()) if is_over else self.round % LISTS]

    def learn(self, ranking: Ranking, clicked: int) -> None:  # noqa: ARG002
        """Count the click for the list."""
        self.clicks[self.round % LISTS] += clicked != NO_CLICK and self.round < self.length
        self.round += 1


class FixedList:
    """A random list that never changes."""

    def __init__(self, task: PolicyTask) -> None:
        self.task = task
        self.list: Ranking | None = None

    def choose(self, rng: np.random.Generator) -> Ranking:
        """The list."""
        if self.list is None:
            self.list = rng.permutation(self.task.items)[: self.task.slots]
        return self.list

    def learn(self, ranking: Ranking, clicked: int) -> None:
        """Learn nothing."""


def methods(rate: float) -> dict[str, Any]:
    """The simpler methods, for a page whose lists have this click rate."""
    return {
        "Thompson sampling by item": partial(BetaThompson, rate=rate),
        "sort by click rate": partial(SortByClickRate, rate=rate),
        "A/B test of ten lists": ABTest,
        "fixed list": FixedList,
    }


def comparison(rate: float, replications: int, views: int) -> dict[str, Any]:
    """The click rate of each method over time, as a share of the best list's; means over pages."""
    times = np.unique(np.linspace(max(1, views / 40), views, 40).astype(int))
    simpler = methods(rate)
    shares: dict[str, list[FloatArray]] = {"slotwise": [], **{name: [] for name in simpler}}
    for seed in range(101, 101 + replications):
        users = page(ITEMS, SLOTS, rate, seed)
        best = reward(users, best_ranking(users))
        for name, policy in {"slotwise": default_policy(), **simpler}.items():
            runs = simulate(users, policy, rounds=views, replications=1, seed=seed, record_at=times, progress=False)
            (run,) = runs.values()
            lost = np.diff(run.regret[0], prepend=0.0) / np.diff(times, prepend=0)
            shares[name].append(1.0 - lost / best)
    curves = {name: np.mean(found, axis=0).round(4).tolist() for name, found in shares.items()}
    errors = {
        name: float(np.std([s.mean() for s in found], ddof=1) / replications**0.5) for name, found in shares.items()
    }
    return {"click_rate": rate, "views": times.tolist(), "share_of_best": curves, "standard_error": errors}


def figure(pages: Sequence[Mapping[str, Any]]) -> Figure:
    """The share of the best list's clicks that each method gets, over time; a panel for each click rate."""
    drawn = new_figure(9.6, 3.6)
    panels = drawn.subplots(1, len(pages), sharey=True, squeeze=False)[0]
    colours = ("#00614a", "#0072b2", "#d55e00", "#cc79a7", "#777777")
    for axes, found in zip(panels, pages, strict=True):
        for (name, curve), colour in zip(found["share_of_best"].items(), colours, strict=True):
            width = 2.4 if name == "slotwise" else 1.5
            axes.plot(found["views"], [100 * share for share in curve], label=name, color=colour, lw=width)
        axes.set(xlabel="page views", ylim=(40, 101), xlim=(0, max(found["views"])))
        axes.set_title(f"click rate {100 * found['click_rate']:g} %", fontsize="medium")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("clicks, % of the best list's")
    # where no curve is: between the winner of an A/B test and the methods that learn
    panels[0].legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.49), fontsize="x-small")
    return drawn


#: what `write` measures
PARTS = ("traffic", "comparison")


def write(out: Path, *, replications: int, scale: float = 1.0, parts: Sequence[str] = PARTS) -> None:
    """Measure the parts, and write traffic.json, or alternatives.json and the figure."""
    about = {"policy": str(default_policy()), "regret": _snapshot(), "replications": replications}
    if "traffic" in parts:
        (out / "traffic.json").write_text(json.dumps({**about, "rows": traffic(replications, scale)}, indent=1) + "\n")
    if "comparison" in parts:
        pages = [comparison(rate, replications, int(scale * views)) for rate, views in VIEWS.items()]
        (out / "alternatives.json").write_text(json.dumps({**about, "pages": pages}, indent=1) + "\n")
        figure(pages).savefig(out / "alternatives.svg")


def _snapshot() -> float | None:
    """The regret of the default policy in the snapshots of the tests: another number means that results are stale."""
    snapshots = Path(__file__).parents[1] / "tests" / "snapshots" / "regret.json"
    regret: float | None = json.loads(snapshots.read_text()).get(str(default_policy()))
    return regret
