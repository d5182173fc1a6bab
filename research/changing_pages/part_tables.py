"""The tables of the study of changing pages, as Markdown; pure functions of its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from research.changing_pages.cells import Finding, Found
from research.changing_pages.plan import LONG_ROUNDS, OURS, PLAIN, Plan, left_out, recorded_long
from research.graves_lai import limit
from slotwise.core.types import FloatArray
from slotwise.environments import problem

WAY_NAMES = {"untold": "one tally for all", "apart": "one each, apart", "told": "pooled"}
COLUMNS = ("part", "row", "policy", "way", "runs", "mean", "standard_error", "median", "q99", "worst", "seconds")


def numbers(found: Found) -> list[tuple[object, ...]]:
    """A row for every policy on every problem: `COLUMNS`."""
    return [
        (*key, len(one.final), mean(one), error(one), *(float(value) for value in tail(one.final)), one.seconds)
        for key, one in found.items()
    ]


def tail(values: FloatArray) -> tuple[float, float, float]:
    """Median, 99 % quantile and worst."""
    return float(np.median(values)), float(np.quantile(values, 0.99)), float(values.max())


def mean(one: Finding) -> float:
    """Mean regret after the last round."""
    return float(one.final.mean())


def error(one: Finding) -> float:
    """Standard error of `mean`: replications on the same problem are not independent, problems are."""
    return standard_error(by_problem(one.problem, one.final))


def by_problem(problem: Sequence[int] | np.ndarray, values: FloatArray) -> FloatArray:
    """The mean on each problem; where all are on one, the values themselves."""
    numbers = np.asarray(problem)
    if (numbers == numbers[0]).all():
        return values
    return np.array([values[numbers == number].mean() for number in np.unique(numbers)])


def standard_error(values: FloatArray) -> float:
    """Of the mean of independent values; NaN from a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def ratio_of(one: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Ratio of the means of paired values, and its standard error by the delta method."""
    ratio = float(one.mean() / other.mean())
    return ratio, standard_error(one - ratio * other) / float(other.mean())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown, all columns but the first to the right."""
    lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)])]
    return "\n".join([*lines, *map(_line, rows)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plus_minus(value: float, error: float, digits: int = 1) -> str:
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def _with_tail(one: Finding, digits: int = 1) -> str:
    return f"{_plus_minus(mean(one), error(one), digits)} ({np.quantile(one.final, 0.99):,.0f})"


def _of(found: Found, part: str) -> Found:
    return {key: one for key, one in found.items() if key[0] == part}


def _rows(found: Found) -> list[str]:
    return list(dict.fromkeys(row for _, row, _, _ in found))


def _policies(found: Found) -> list[str]:
    return list(dict.fromkeys(policy for _, _, policy, _ in found))


def problems(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """A row per problem, a column per policy, and how the tails of ours compare."""
    mine = _of(found, "problems")
    by = {(row, policy): one for (_, row, policy, _), one in mine.items()}
    rows, policies = _rows(mine), _policies(mine)
    text = f"Mean ± standard error (99 % quantile) of regret, {_sizes(by, policies)}; the least mean is bold.\n"
    least = {row: min(policies, key=lambda policy: mean(by[row, policy])) for row in rows}

    def shown(row: str, policy: str) -> str:
        value = _with_tail(by[row, policy])
        return f"**{value}**" if policy == least[row] else value

    def relative(policy: str, over: Sequence[str]) -> str:
        logs = [np.log(mean(by[row, policy]) / mean(by[row, PLAIN])) for row in over if mean(by[row, PLAIN]) > 0.0]
        return f"{np.exp(np.mean(logs)):.3f}"

    for some_policies in _split(policies):
        body = [[f"({row})", *(shown(row, policy) for policy in some_policies)] for row in rows]
        unseen = [row for row in rows if row not in "abc"]
        body.append(["(d) to (k), relative", *(relative(policy, unseen) for policy in some_policies)])
        body.append(["all, relative", *(relative(policy, rows) for policy in some_policies)])
        text += "\n" + table(["problem", *(f"`{policy}`" for policy in some_policies)], body)
    text += "\n*Relative*: geometric mean of the ratios of means to `thompson-sampling`.\n"
    quantile = {key: float(np.quantile(one.final, 0.99)) for key, one in by.items()}
    held = [row for row in rows if quantile[row, OURS] <= quantile[row, PLAIN]]
    above = [f"({row})" for row in rows if row not in held]
    text += (
        f"\nOn {len(held)} of the {len(rows)} problems the 99 % quantile of `{OURS}` is not above that of `{PLAIN}`"
        f"{'; it is on ' + ', '.join(above) if above else ''}.\n"
    )
    lower = [row for row in rows if mean(by[row, OURS]) <= mean(by[row, PLAIN])]
    best = [row for row in rows if least[row] == OURS]
    return text + (
        f"Its mean is not above that of `{PLAIN}` on {len(lower)}, and the least of all on {len(best)} of "
        f"{len(rows)}.\n"
    )


def _sizes(by: dict[tuple[str, str], Finding], policies: list[str]) -> str:
    """How many replications there are, most first, and of what."""
    counts = {policy: min(len(one.final) for (_, its), one in by.items() if its == policy) for policy in policies}
    most = max(counts.values())
    if min(counts.values()) == most:
        return f"{most:,} replications"
    named = " and ".join(f"`{policy}`" for policy in policies if counts[policy] == most)
    return f"{most:,} replications of {named}, {min(counts.values()):,} of the others"


def _split(policies: list[str]) -> list[list[str]]:
    """Ours beside those with hard passes, and ours beside those with soft ones: neither table is too wide."""
    soft = [policy for policy in policies if "passes=soft" in policy]
    return [one for one in ([p for p in policies if p not in soft], [OURS, *soft]) if len(one) > 1]


def clicky(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """(i), nearly always a click."""
    return _final(_of(found, "clicky"))


def shop(found: Found, plan: Plan) -> str:
    """All at once."""
    return _final(_of(found, "shop")) + _left_out(plan)


def _final(mine: Found) -> str:
    ours = next(iter(mine.values()))
    body = [
        [f"`{policy}`", _plus_minus(mean(one), error(one)), *(f"{value:,.1f}" for value in tail(one.final))]
        for (_, _, policy, _), one in mine.items()
    ]
    return f"{len(ours.final)} runs.\n\n" + table(["policy", "mean ± s.e.", "median", "99 %", "worst"], body)


def segments(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """Three ways, with one policy after the other, and how pooling compares."""
    mine, text = _of(found, "segments"), ""
    for policy in _policies(mine):
        body, close = [], 0
        for row in _rows(mine):
            ways = {way: mine["segments", row, policy, way] for way in ("untold", "apart", "told")}
            better = min(("untold", "apart"), key=lambda way: mean(ways[way]))
            to_better = ratio_of(ways["told"].final, ways[better].final)
            to_one = ratio_of(ways["told"].final, ways["untold"].final)
            close += to_better[0] <= 1.0
            body.append(
                [
                    *row.split(" | "),
                    *(f"{_with_tail(one, 0)}" for one in ways.values()),
                    _plus_minus(*to_better, 2),
                    _plus_minus(*to_one, 2),
                ]
            )
        head = ["segments, J, K, T", "h", *WAY_NAMES.values(), "pooled / better of the others", "pooled / one tally"]
        text += f"\n`{policy}`:\n\n{table(head, body)}\nPooled is not above the better of the others on {close} of "
        text += f"{len(body)} rows.\n"
    runs = len(next(iter(mine.values())).final)
    return f"Mean ± standard error (99 % quantile) of {runs} problems, the same for all; ratios of means.\n{text}"


def newcomers(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """What newcomers take while nothing is known of them, and what that costs."""
    mine, text = _of(found, "newcomers"), ""
    for row in _rows(mine):
        body = [
            [
                f"`{policy}`",
                f"{one.share.mean():.3f}",
                f"{one.share.max():.3f}",
                _plus_minus(float(one.regret[:, 0].mean()), standard_error(one.regret[:, 0])),
                _plus_minus(mean(one), error(one)),
                *(f"{value:,.1f}" for value in tail(one.final)[1:]),
            ]
            for (_, its, policy, _), one in mine.items()
            if its == row
        ]
        head = ["policy", "newcomers' share", "largest", "regret till first outcomes", "regret", "99 %", "worst"]
        text += f"\n{row} new beside 12:\n\n{table(head, body)}"
    return f"{len(next(iter(mine.values())).final)} problems, the same for all.\n{text}"


def features(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """With features and without."""
    mine = _of(found, "features")
    body = []
    for policy in _policies(mine):
        for explained in dict.fromkeys(row.split()[0] for row in _rows(mine)):
            without, used = (mine["features", f"{explained} {which}", policy, "told"] for which in ("not used", "used"))
            ratio = _plus_minus(*ratio_of(used.final, without.final), 2)
            body.append([f"`{policy}`", explained, _with_tail(without, 0), _with_tail(used, 0), ratio])
    head = ["policy", "features explain", "not used", "used", "used / not used"]
    runs = len(next(iter(mine.values())).final)
    return f"Mean ± standard error (99 % quantile) of {runs} problems, the same for all.\n\n{table(head, body)}"


def forgetting(found: Found, plan: Plan) -> str:  # noqa: ARG001
    """Half-lives by how tastes change."""
    mine = _of(found, "forgetting")
    body = [
        [
            f"`{policy}`",
            *(
                f"{_plus_minus(mean(one), error(one), 0)} ({one.final.max():,.0f})"
                for one in (mine["forgetting", row, policy, "told"] for row in _rows(mine))
            ),
        ]
        for policy in _policies(mine)
    ]
    runs = len(next(iter(mine.values())).final)
    return f"Mean ± standard error (worst) of {runs} runs.\n\n{table(['policy', *_rows(mine)], body)}"


def random(found: Found, plan: Plan) -> str:
    """The same on problems that nothing is chosen on."""
    return _on_random("random", found, plan)


def _on_random(part: str, found: Found, plan: Plan) -> str:
    """Relative to plain posterior sampling."""
    mine, text = _of(found, part), ""
    for row in _rows(mine):
        plain = mine[part, row, PLAIN, "told"]
        body = []
        for (_, its, policy, _), one in mine.items():
            if its == row:
                values, on = relative(one, plain)
                means = by_problem(on, values)
                numbers = (values.mean(), standard_error(means), *tail(values))
                body.append([f"`{policy}`", *(f"{value:.2f}" for value in numbers)])
        text += (
            f"\n{len(np.unique(plain.problem))} problems, {row}, seed {plan.seed}, "
            f"{len(plain.final) // len(np.unique(plain.problem))} replications each:\n\n"
            f"{table(['policy', 'mean', '± s.e.', 'median', '99 %', 'worst'], body)}"
        )
    return f"Regret relative to the mean of `{PLAIN}` on the same problem.\n{text}{_left_out(plan)}"


def relative(one: Finding, plain: Finding) -> tuple[FloatArray, np.ndarray]:
    """Regret divided by the mean of plain posterior sampling on the same problem, and the problems."""
    means = {number: plain.final[plain.problem == number].mean() for number in np.unique(plain.problem)}
    scale = np.array([means[number] for number in one.problem])
    # where there is nothing to choose there is nothing to compare
    chosen = scale > 0.0
    return one.final[chosen] / scale[chosen], one.problem[chosen]


def _left_out(plan: Plan) -> str:
    return "".join(f"\nLeft out: `{policy}` ({why}).\n" for policy, why in left_out(plan).items())


def long(found: Found, plan: Plan) -> str:
    """Regret by decade, and its slope over the last one next to the limit."""
    mine, rounds = _of(found, "long"), plan.rounds(LONG_ROUNDS)
    body, points = [], recorded_long(plan)
    decades = [max(1, round(rounds * 10.0**-back)) for back in (4, 3, 2, 1, 0)]
    for (_, id, policy, _), one in mine.items():
        at = [points.index(decade) for decade in decades]
        slopes = (one.regret[:, at[-1]] - one.regret[:, at[-2]]) / np.log(rounds / decades[-2])
        body.append(
            [
                f"({id})",
                f"`{policy}`",
                *(f"{one.regret[:, place].mean():,.1f}" for place in at),
                f"{one.final.max():,.0f}",
                _plus_minus(float(slopes.mean()), standard_error(slopes)),
                f"{limit_of(id):.2f}",
            ]
        )
    head = ["problem", "policy", *(f"{decade:,}" for decade in decades), "worst", "slope, last decade", "C"]
    runs = len(next(iter(mine.values())).final)
    return (
        f"Mean regret of {runs} runs at the end of each decade; the slope is per unit of log T.\n\n{table(head, body)}"
    )


def limit_of(id: str) -> float:
    """Return C of a problem with unknown position bias."""
    return limit(problem(id).users, known_bias=False).at_most


TABLES: dict[str, Callable[[Found, Plan], str]] = {
    one.__name__: one for one in (problems, clicky, segments, newcomers, features, forgetting, random, long, shop)
}
