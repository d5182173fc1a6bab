"""The leaderboard as a page: a table, what it comes to in words, and a heat map. Nothing on it is typed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from research.leaderboard.leaderboard_environments import BIAS, CHANGES, ITEMS, KINDS, STAYS, USERS
from research.leaderboard.scores import TAIL, BoardSize, Scores, cells, relative, run, scores
from slotwise.core.io import replacing, write_csv
from slotwise.core.plotting import new_figure, save
from slotwise.paper.result_cache import program_hash
from slotwise.policies import default_policy
from slotwise.policies.policy_registry import parse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: whatever loses more times what the best does is one colour
MOST = 30.0


def write(
    out: Path,
    size: BoardSize,
    *,
    parts: Sequence[str] = (),
    page: Path | None = None,
    jobs: int = -1,
    progress: bool | None = None,
) -> None:
    """Run the missing cells; write the table, the heat map and all numbers into `out`, and the page, if any."""
    made = scores(run(cells(size, parts), out, jobs=jobs, progress=progress), size)
    save(heat_map(made), out, "leaderboard")
    rows = [
        (id, kind, made.mean[id][kind], made.error[id][kind], made.tail[id][kind])
        for id in made.mean
        for kind in made.mean[id]
    ]
    write_csv(out / "leaderboard.csv", ("policy", "users", "mean", "standard_error", "tail"), rows)
    text = page_of(made)
    for path in [out / "tables.md", *([page] if page is not None else [])]:
        with replacing(path) as file:
            file.write(text.encode())
    if page is not None:
        shutil.copyfile(out / "leaderboard.png", page.parent / "leaderboard.png")


def page_of(made: Scores) -> str:
    """The whole page, as Markdown."""
    size = made.size
    used = {KINDS[kind].users for kind in made.kinds}
    users = "\n".join(f"- **{one.name}**: {one.about}." for id, one in USERS.items() if id in used)
    return f"""# Leaderboard: every policy on every kind of users

<!-- written by `python -m research leaderboard --page research/notes/leaderboard.md`; do not edit -->

What policies lose against the best list, in clicks per 1,000 rounds: the mean of {size.replications} runs of
{size.rounds:,} rounds, and in brackets what one run in ten exceeds; {len(BIAS)} slots, {ITEMS} items, seed {size.seed}.
The least of each column is bold; a mean's standard error is {_usual_error(made):.0%} of it in the middle of the table.
{_not_run(made)}Policies marked † are told the position bias, where there is one to be told; a dash is
where a policy cannot act.

{findings(made)}
![How many times what the best policy loses each one loses](leaderboard.png)

{tables(made)}
## The users

{users}

Policies are listed in the order of what they lose, relative to the best of each column; those that act everywhere come
first. `python -m research leaderboard` makes this page; `slotwise simulate` gives the same numbers for the same users,
rounds, replications and seed. The program that ran had the fingerprint `{program_hash()}`; a later one may have other
policies, or better ones. [CONTRIBUTING.md](../../CONTRIBUTING.md) says how a policy of your own comes onto it.
"""


def _usual_error(made: Scores) -> float:
    parts = [made.error[id][kind] / max(made.mean[id][kind], 1e-9) for id in made.mean for kind in made.mean[id]]
    return float(np.median(parts))


def _not_run(made: Scores) -> str:
    missing = [kind.name for kind in KINDS.values() if kind.id not in made.kinds]
    return f"Not run for this page: {'; '.join(missing)}.\n" if missing else ""


def tables(made: Scores) -> str:
    """A table for each way in which the page changes, under its name."""
    parts = []
    for change, about in CHANGES.items():
        kinds = [kind for kind in made.kinds if KINDS[kind].change == change]
        if kinds:
            title = "A page that stays as it is" if change == STAYS else f"{change.capitalize()}: {about}"
            parts.append(f"## {title}\n\n{table(made, kinds)}")
    return "\n".join(parts)


def table(made: Scores, kinds: Sequence[str] = ()) -> str:
    """A row per policy that acts on any of these kinds, a column per kind; by default of all kinds."""
    kinds = kinds or made.kinds
    least = {kind: made.best(kind) for kind in kinds}
    alike = len({KINDS[kind].change for kind in kinds}) == 1
    names = [USERS[KINDS[kind].users].name if alike else KINDS[kind].name for kind in kinds]
    lines = [
        "| policy | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * len(kinds),
    ]
    for id in made.mean:
        if not any(kind in made.mean[id] for kind in kinds):
            continue
        numbers = []
        for kind in kinds:
            if kind not in made.mean[id]:
                numbers.append("–")
                continue
            mean = f"{made.mean[id][kind]:.1f}"
            numbers.append(f"{f'**{mean}**' if least[kind] == id else mean} ({made.tail[id][kind]:.1f})")
        lines.append(f"| {_marked(id)} | " + " | ".join(numbers) + " |")
    return "\n".join(lines) + "\n"


def _marked(id: str) -> str:
    return f"`{id}`{'†' if parse(id).knows_bias else ''}"


def findings(made: Scores) -> str:
    """Which policy when the model is wrong, and what the default loses then, in words."""
    ours = default_policy().id
    told_nothing = [id for id in made.mean if not parse(id).knows_bias]
    lines = []
    for title, kinds in (
        ("Where users do not choose by multinomial logit", _kinds(made, stays=True, is_mnl=False)),
        ("Where the page does not stay as it is", _kinds(made, stays=False, is_mnl=True)),
        ("Where neither holds", _kinds(made, stays=False, is_mnl=False)),
    ):
        if not kinds or ours not in made.mean or any(kind not in made.mean[ours] for kind in kinds):
            continue
        best = min(told_nothing, key=lambda one: made.standing(one, kinds))
        each = "; ".join(_against_the_best(made, kind) for kind in kinds)
        use = f"the default, `{ours}`" if best == ours else f"`{best}`"
        text = (
            f"**{title}, use {use}**: of the policies that are not told the bias it comes nearest to the best of each "
            f"kind, losing {made.standing(best, kinds):.2f} times as much (geometric mean). "
        )
        if best != ours:
            unclear = "" if _is_clear(made, best, ours, kinds) else ", no clear difference in so few runs"
            text += f"The default, `{ours}`, loses {made.standing(ours, kinds):.2f} times as much{unclear}. "
        lines.append(f"{text}By kind: {each}.\n")
    return "\n".join(lines)


def _kinds(made: Scores, *, stays: bool, is_mnl: bool) -> list[str]:
    return [kind for kind in made.kinds if (KINDS[kind].stays, KINDS[kind].is_mnl) == (stays, is_mnl)]


def _is_clear(made: Scores, better: str, other: str, kinds: Sequence[str]) -> bool:
    """Whether the difference of two policies over these kinds is more than two of its standard errors."""
    gap = np.log(made.standing(other, kinds) / made.standing(better, kinds))
    errors = [made.error[id][kind] / max(made.mean[id][kind], 1e-9) for id in (better, other) for kind in kinds]
    return bool(gap > 2.0 * np.linalg.norm(errors) / len(kinds))


def _against_the_best(made: Scores, kind: str) -> str:
    ours, best = default_policy().id, made.best(kind)
    if ours == best:
        return f"{KINDS[kind].name}: the default loses least, {made.mean[ours][kind]:.1f}"
    return f"{KINDS[kind].name}: the default loses {made.mean[ours][kind]:.1f}, `{best}` {made.mean[best][kind]:.1f}"


def heat_map(made: Scores) -> Figure:
    """Policies × kinds, mean and tail: the number lost, coloured by how many times the least mean it is."""
    from matplotlib.colors import LogNorm

    ids, kinds = list(made.mean), made.kinds
    # above each other where side by side would be too wide
    wide = len(kinds) > 10
    across, down = (1, 2) if wide else (2, 1)
    drawn = new_figure(3.2 + 0.72 * len(kinds) * across, (1.6 + 0.27 * len(ids)) * down)
    panels = drawn.subplots(down, across, sharex=wide, sharey=not wide)
    for axes, lost, title in zip(
        panels, (made.mean, made.tail), ("mean", f"what one run in {1 / (1 - TAIL):.0f} exceeds"), strict=True
    ):
        ratios = np.full((len(ids), len(kinds)), np.nan)
        for id, kind, ratio in relative(made, lost):
            ratios[ids.index(id), kinds.index(kind)] = ratio
        image = axes.imshow(np.clip(ratios, 1.0, MOST), norm=LogNorm(1.0, MOST), cmap="YlOrRd", aspect="auto")
        for row, id in enumerate(ids):
            for column, kind in enumerate(kinds):
                if kind in lost[id]:
                    dark = ratios[row, column] > MOST**0.7
                    axes.text(
                        column,
                        row,
                        f"{lost[id][kind]:.1f}",
                        ha="center",
                        va="center",
                        fontsize=6.5,
                        color="white" if dark else "black",
                    )
        axes.set_xticks(range(len(kinds)), [KINDS[kind].name for kind in kinds], rotation=40, ha="right", fontsize=8)
        axes.set_title(title, fontsize="medium")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    names = [f"{id}†" if parse(id).knows_bias else id for id in ids]
    for axes in panels if wide else panels[:1]:
        axes.set_yticks(range(len(ids)), names, fontsize=8)
    bar = drawn.colorbar(image, ax=list(panels), shrink=0.5, pad=0.01)
    bar.set_ticks([1, 2, 5, 10, MOST], labels=["1", "2", "5", "10", f"{MOST:g}+"])
    bar.set_label("times the least mean of the column", fontsize=8)
    drawn.suptitle("Clicks lost per 1,000 rounds", fontsize="medium")
    return drawn
