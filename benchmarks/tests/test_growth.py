from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.growth.__main__ import judged
from benchmarks.growth.exponents import LEAST_BYTES, exponent, is_within
from benchmarks.growth.growth_cases import CASES, Case
from benchmarks.growth.growth_figure import draw
from benchmarks.growth.live_service import LiveService

SIZES = [10, 100, 1_000, 10_000]


@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_exponent_of_a_power_is_found(power: int) -> None:
    assert exponent(SIZES, [3.0 * size**power for size in SIZES]) == pytest.approx(power)


def test_what_small_sizes_take_for_their_overhead_does_not_hide_growth() -> None:
    seconds = [1.0 + (size / 100) ** 2 for size in SIZES]
    assert exponent(SIZES, seconds) > 1.8
    assert not is_within(exponent(SIZES, seconds), 1.0)


def test_memory_below_the_steps_of_the_allocator_does_not_grow() -> None:
    assert exponent(SIZES, [1e3, 1e4, 1e5, 1e6], LEAST_BYTES) == 0.0


def test_growth_beyond_the_stated_order_is_named() -> None:
    (case,) = (case for case in CASES if case.name == "decision/items")
    linear = [{"size": size, "seconds": 1e-6 * size, "bytes": 1e5 * size} for size in SIZES]
    assert judged(case, linear)["within"]
    assert not judged(case, [{**one, "seconds": 1e-9 * one["size"] ** 2} for one in linear])["within"]
    assert not judged(case, [{**one, "bytes": 1e3 * one["size"] ** 2.0} for one in linear])["within"]


def test_sizes_cover_their_orders_of_magnitude() -> None:
    for case in CASES:
        sizes = case.sizes()
        assert (sizes[0], sizes[-1]) == (case.smallest, case.largest)
        # fewer only where a service or a fit allows no more
        assert len(sizes) == 4 or case.variable in ("slots", "segments")
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize(
    "name", ["simulation/rounds", "fit/placements", "outcome/slots", "finalising/hours", "start/placements"]
)
def test_a_case_measures_its_smallest_size(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (case,) = (case for case in CASES if case.name == name)
    with closing(case.turns(_few(case))) as turns:
        seconds, units = next(turns)
    assert seconds > 0.0
    assert units >= 1


def _few(case: Case) -> int:
    return min(case.smallest, 20)


@pytest.mark.usefixtures("interpreting")
def test_the_service_counts_what_it_is_measured_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with LiveService.running() as service:
        service.put(["home"], items=5, slots=2)
        service.fill_decisions(30)
        made = service.decide(9)
        service.report(made)
        service.finalise()
        service.stop()
        # one decision was the pattern of the thirty, which were not counted
        assert service.counted() == {"decisions": 40, "issued": 10, "clicks": 3, "final": 40}
        service.start()


def test_the_figure_has_a_panel_for_each_operation() -> None:
    rows = [
        {
            "operation": what,
            "variable": "items",
            "unit": what,
            "measured": [{"size": s, "seconds": 1e-3 * s} for s in SIZES],
        }
        for what in ("decision", "fit")
    ]
    assert [axes.get_title() for axes in draw(rows).axes if axes.get_visible()] == ["one decision", "one fit"]
