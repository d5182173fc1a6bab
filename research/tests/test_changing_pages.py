"""The study's own arithmetic, and the laws of its problems; what it finds is in research/notes/changing_pages.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research import studies
from research.changing_pages import cells as lived_cells
from research.changing_pages import families as lived_families
from research.changing_pages import part_tables as lived_tables
from research.changing_pages import run_parts as lived
from research.changing_pages.cells import Finding
from research.changing_pages.families import KNOWN_ITEMS
from research.changing_pages.plan import OURS, PARTS, PLAIN, POLICIES, Plan
from research.changing_pages.random_worlds import random_changing_problem, random_problem
from research.changing_pages.wrappers import untold, watched
from slotwise import MNL, simulate
from slotwise.click_models import best_ranking, regret
from slotwise.core.errors import InvalidInput
from slotwise.environments import Segment, World
from slotwise.jit.interpreter_mode import interpreted
from slotwise.policies.policy_registry import parse
from slotwise.simulation.world_items import draw_items

PAGE = Path(__file__).parents[1] / "notes" / "changing_pages.md"


@pytest.fixture(autouse=True)
def _nothing_to_compile() -> Iterator[None]:
    """A few rounds of many policies: it takes longer to compile them than to run them as they are written."""
    with interpreted():
        yield


@pytest.mark.parametrize("part", PARTS)
def test_a_quick_run_of_each_part(part: str, tmp_path: Path) -> None:
    lived.write(tmp_path, Plan(quick=True), parts=[part], jobs=1, progress=False)
    text = (tmp_path / f"{part}.md").read_text()
    assert f"`{OURS}" in text
    assert "nan" not in text
    assert text in (tmp_path / "tables.md").read_text()
    lines = (tmp_path / f"{part}.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ["part", "row", "policy"]
    assert len(lines) > 2
    assert (tmp_path / f"changing_pages_{part}.png").exists() == (part in ("segments", "long"))


def test_a_run_that_was_killed_goes_on_to_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, play = Plan(quick=True), lived_cells.play
    todo = PARTS["newcomers"](plan)
    whole = lived_cells.run(todo, tmp_path / "whole", jobs=1, progress=False)
    played: list[lived_cells.Cell] = []

    def killed_after_three(cell: lived_cells.Cell) -> Finding:
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(cell)
        return play(cell)

    monkeypatch.setattr(lived_cells, "play", killed_after_three)
    with pytest.raises(KeyboardInterrupt):
        lived_cells.run(todo, tmp_path / "killed", jobs=1, progress=False)
    again: list[lived_cells.Cell] = []

    def counted(cell: lived_cells.Cell) -> Finding:
        again.append(cell)
        return play(cell)

    monkeypatch.setattr(lived_cells, "play", counted)
    found = lived_cells.run(todo, tmp_path / "killed", jobs=1, progress=False)
    assert len(again) == len(todo) - 3
    assert list(found) == list(whole)
    for key, one in whole.items():
        assert np.array_equal(found[key].regret, one.regret)
        assert np.array_equal(found[key].share, one.share)


def test_more_replications_keep_those_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = (
        [cell for cell in PARTS["long"](Plan(quick=True, replications=count)) if cell.policy == OURS]
        for count in (1, 2)
    )
    first = lived_cells.run(few, tmp_path, jobs=1, progress=False)
    monkeypatch.setattr(lived_cells, "play", _only(lived_cells.play, first=1))
    then = lived_cells.run(more, tmp_path, jobs=1, progress=False)
    assert all(np.array_equal(then[key].regret[:1], one.regret) for key, one in first.items())


def _only(play: Any, first: int) -> Any:
    def checked(cell: lived_cells.Cell) -> Finding:
        assert cell.first >= first
        found: Finding = play(cell)
        return found

    return checked


def test_every_part_has_a_table_and_a_place_on_the_page() -> None:
    assert list(PARTS) == list(lived_tables.TABLES)
    page = PAGE.read_text()
    for part in PARTS:
        assert "\n\nfound\n\n" in lived.fill(page, part, "found\n")
    with pytest.raises(InvalidInput, match="<!-- long -->"):
        lived.fill("no marks", "long", "found")


def test_options_of_other_studies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the study of calibration has no option parts"):
        studies.write("calibration", tmp_path, parts=["long"])
    with pytest.raises(InvalidInput, match="part must be problems or"):
        studies.write("changing-pages", tmp_path, parts=["nonsense"])


def test_all_that_is_compared_is_registered_and_has_no_place_twice() -> None:
    for policy in POLICIES:
        parse(policy)
    for part in PARTS.values():
        cells = part(Plan())
        assert len({(cell.key, cell.first) for cell in cells}) == len(cells)
        assert len({cell.name for cell in cells}) == len(cells)


def test_few_are_ours_in_all_its_settings_and_plain_sampling() -> None:
    for part in PARTS.values():
        compared = {cell.policy for cell in part(Plan(few=True))}
        assert compared <= {cell.policy for cell in part(Plan())}
        assert {policy.partition(":")[0] for policy in compared} <= {OURS, PLAIN}
        assert not any(policy.startswith(f"{PLAIN}:") for policy in compared)


def test_random_problems_of_the_report_are_not_those_of_the_choice() -> None:
    for family in (lived_families.stationary, lived_families.lived):
        chosen, reported = ([family(seed, number, at_most=10**9).rounds for number in range(30)] for seed in (1, 2))
        assert Plan.seed == 2
        assert not set(chosen) & set(reported)


# What policies inside others are told and do.


def test_a_policy_without_segments_ignores_them() -> None:
    taste, share = [0.3, 0.2, 0.1], 0.5
    alike = World(position_bias=[1.0, 0.5], segments=[Segment(share, taste), Segment(share, taste)])
    one = simulate(alike, untold(OURS), rounds=40, jobs=1, progress=False)[OURS]
    other = simulate(
        World(position_bias=[1.0, 0.5], segments=[Segment(1.0, taste)]), OURS, rounds=40, jobs=1, progress=False
    )[OURS]
    assert np.array_equal(one.regret, other.regret)


def test_shows_are_those_of_the_first_rounds() -> None:
    seen: list[Any] = []
    world = World(position_bias=[1.0, 0.5], attractiveness=[0.3, 0.2, 0.1])
    simulate(world, watched(OURS, 15, seen), rounds=40, jobs=1, progress=False)
    assert seen[-1].sum() == 30.0
    alone = simulate(world, OURS, rounds=40, jobs=1, progress=False)[OURS]
    again = simulate(world, watched(OURS, 15, seen), rounds=40, jobs=1, progress=False)[OURS]
    assert np.array_equal(alone.regret, again.regret)


def test_apart_is_a_policy_of_its_own_for_each_segment() -> None:
    """Where one segment has all the visits there is nothing to part."""
    drawn = lived_families.segments(1, 0, crowds=1, items=4, slots=2, rounds=40, apart=0.3)
    cell = lived_cells.Cell(
        "segments",
        "x",
        OURS,
        lived_cells.family(lived_families.segments, crowds=1, items=4, slots=2, rounds=40, apart=0.3),
        seed=1,
        first=0,
        last=1,
        each=1,
        way="apart",
    )
    users = MNL(position_bias=drawn.users.position_bias, attractiveness=drawn.users.segments[0].attractiveness)
    alone = simulate(users, OURS, rounds=40, seed=1 + lived_cells.NEXT_SEGMENT, jobs=1, progress=False)[OURS]
    assert lived_cells.play(cell).final.tolist() == alone.final_regret.tolist()


# The laws of the families; five standard errors leave one failure in a million.

MANY = 400


def test_segments_differ_by_their_stated_spread() -> None:
    sizes: dict[str, Any] = {"crowds": 4, "items": 12, "slots": 4, "rounds": 100}
    cases = [lived_families.segments(3, number, apart=0.5, **sizes).users for number in range(MANY)]
    logs = np.log([world.attractiveness for world in cases])
    differences = (logs[:, 0] - logs[:, 1]).ravel()
    assert differences.var() == pytest.approx(2 * 0.5**2, rel=5 * np.sqrt(2 / len(differences)))
    assert logs.mean() == pytest.approx(np.log(0.12) - 0.5**2 / 2, abs=5 * 0.8 / np.sqrt(MANY * 12))
    alike = lived_families.segments(3, 0, apart=0.0, **sizes).users.attractiveness
    assert (alike == alike[0]).all()
    for world in cases:
        bias = world.position_bias
        assert bias[0] == 1.0
        assert (np.diff(bias) <= 0.0).all()
        assert bias[-1] >= 0.1
    first_shares = np.array([world.segments[0].share for world in cases])
    assert first_shares.mean() == pytest.approx(1 / 4, abs=5 * np.sqrt(3 / 80) / np.sqrt(MANY))


def test_newcomers_have_no_counts_and_the_law_of_the_others() -> None:
    case = lived_families.newcomers(3, 0, new=3, counted=50, late=10, rounds=100)
    assert case.start is not None
    assert case.start.clicks[:, KNOWN_ITEMS:].sum() == case.start.passes[:, KNOWN_ITEMS:].sum() == 0
    assert case.start.clicks.sum() + case.start.passes[0].sum() == 50
    assert case.users.items == KNOWN_ITEMS + 3
    assert case.users.delay.rounds == 10
    assert not case.users.comes_and_goes


def test_features_explain_their_stated_share() -> None:
    for explained in (0.0, 0.5, 0.95):
        left, total = 0.0, 0.0
        for number in range(20):
            sizes: dict[str, Any] = {"items": 200, "rounds": 20_000, "explained": explained}
            world = lived_families.features(3, number, used=True, **sizes).users
            logs = np.log(world.attractiveness[0] / 0.1)
            fitted = world.features @ np.linalg.lstsq(world.features, logs, rcond=None)[0]
            left, total = left + float(((logs - fitted) ** 2).sum()) / 195 * 200, total + float((logs**2).sum())
        # 4,000 items
        assert total / 4_000 == pytest.approx(0.8**2, rel=5 * np.sqrt(2 / 4_000))
        assert left / total == pytest.approx(1.0 - explained, abs=0.08)
    assert (world.arrivals == 0).sum() == 100
    assert np.array_equal(np.unique(world.arrivals[100:]), 500 * np.arange(1, 21))
    assert np.bincount(world.arrivals[100:] // 500)[1:].tolist() == [5] * 20
    assert lived_families.features(3, 0, used=False, **sizes).users.features is None


def test_tastes_change_when_they_should() -> None:
    def jumps(tastes: str) -> list[int]:
        world = lived_families.forgetting(3, 0, tastes=tastes, rounds=200_000).users
        assert all(sorted(jump.attractiveness[0]) == sorted(world.attractiveness[0]) for jump in world.drift)
        return [jump.round for jump in world.drift]

    assert jumps(lived_families.STAY) == []
    assert jumps(lived_families.REVERSED) == [100_000]
    assert jumps(lived_families.NEW_ORDERS) == [25_000 * eighth for eighth in range(1, 8)]


def test_random_worlds_have_each_part_as_often_as_stated() -> None:
    drawn = [random_changing_problem(np.random.default_rng([9, number])) for number in range(MANY)]
    worlds = [one.users for one in drawn]
    assert all(5_000 <= one.rounds <= 40_000 for one in drawn)

    def is_share(of: float, found: list[bool]) -> None:
        assert np.mean(found) == pytest.approx(of, abs=5 * np.sqrt(of * (1 - of) / len(found)))

    is_share(1 / 2, [len(world.segments) > 1 for world in worlds])
    assert {len(world.segments) for world in worlds} == set(range(1, 7))
    is_share(1 / 2, [world.churn is not None for world in worlds])
    is_share(1 / 2, [world.churn.features > 0 for world in worlds if world.churn])
    is_share(1 / 4, [world.delay.rounds > 0 for world in worlds])
    is_share(1 / 4, [world.delay.mean_rounds > 0 for world in worlds])
    is_share(1 / 4, [world.delay.every > 1 for world in worlds])
    is_share(1 / 4, [world.cycle is not None for world in worlds])
    is_share(1 / 4, [len(world.drift) > 0 for world in worlds if not world.churn])
    is_share(1 / 2, [world.walk is not None for world in worlds if world.churn])
    for one in drawn[:20]:
        items = draw_items(one.users, one.rounds, np.random.default_rng(0))
        assert items.attractiveness.shape == (len(one.users.segments), one.users.items_in(one.rounds))


# What tables are made of.


def test_errors_are_those_of_problems_where_there_are_several() -> None:
    one = Finding(np.array([0, 0, 1, 1]), np.array([[1.0], [1.0], [3.0], [3.0]]), np.zeros(0), 0.0)
    assert lived_tables.error(one) == pytest.approx(1.0)
    alone = Finding(np.zeros(4, int), one.regret, np.zeros(0), 0.0)
    assert lived_tables.error(alone) == pytest.approx(np.std([1, 1, 3, 3], ddof=1) / 2)


def test_ratios_and_their_errors() -> None:
    rng = np.random.default_rng(1)
    base = rng.exponential(1.0, (2_000, 50)) + 1.0
    other = 0.5 * base + rng.normal(0.0, 0.1, base.shape)
    found = [lived_tables.ratio_of(*pair) for pair in zip(other, base, strict=True)]
    ratios, errors = np.array(found).T
    assert ratios.mean() == pytest.approx(0.5, abs=0.01)
    assert errors.mean() == pytest.approx(ratios.std(), rel=0.1)


def test_relative_regret() -> None:
    plain = Finding(np.array([0, 0, 1]), np.array([[2.0], [4.0], [0.0]]), np.zeros(0), 0.0)
    ours = Finding(np.array([0, 0, 1]), np.array([[3.0], [6.0], [1.0]]), np.zeros(0), 0.0)
    values, problems = lived_tables.relative(ours, plain)
    assert values.tolist() == [1.0, 2.0]
    assert problems.tolist() == [0, 0]


def test_how_many_tails_are_counted() -> None:
    def some(*values: float) -> Finding:
        return Finding(np.zeros(len(values), int), np.array(values)[:, None], np.zeros(0), 0.0)

    found: lived_cells.Found = {
        ("problems", "a", OURS, "told"): some(1.0, 2.0),
        ("problems", "a", PLAIN, "told"): some(1.0, 3.0),
        ("problems", "b", OURS, "told"): some(1.0, 4.0),
        ("problems", "b", PLAIN, "told"): some(3.0, 3.0),
        ("problems", "d", OURS, "told"): some(1.0, 4.0),
        ("problems", "d", PLAIN, "told"): some(4.0, 4.0),
    }
    text = lived_tables.problems(found, Plan())
    assert "On 2 of the 3 problems the 99 % quantile of `thompson-sampling` is not above" in text
    assert "; it is on (b)." in text


def test_random_problems_are_problems_and_a_seed_fixes_them() -> None:
    drawn, again = ([random_problem(np.random.default_rng(seed)) for seed in range(50)] for _ in range(2))
    for one, other in zip(drawn, again, strict=True):
        assert np.array_equal(one.users.attractiveness, other.users.attractiveness)
        assert regret(one.users, best_ranking(one.users)) == 0.0
    assert min(one.users.slots for one in drawn) == 1
    assert max(one.users.items for one in drawn) > 20
