"""The uplift in one sentence."""

from __future__ import annotations

from typing import Final

from slotwise.service.schemas.report_schemas import UpliftDocument

#: ratios from here on are written as a multiple, and smaller ones in per cent
TWICE: Final = 2.0


def pays(uplift: UpliftDocument | None, holdout: float, *, every_day: bool) -> str:
    """The meaning of the comparison of the learned lists with the holdout.

    Parameters
    ----------
    uplift
        The comparison; None if an arm has no final decisions.
    holdout
        The holdout share of the placement.
    every_day
        Whether to use the anytime-valid interval, which may be read every day, or the fixed-horizon interval.
    """
    if uplift is None:
        if holdout == 0.0:
            return "Not measured: there is no holdout to compare with."
        return "Not known yet: both the learned lists and the holdout need counted views in this period."
    low, high = uplift["low"], uplift["high"]
    if every_day and uplift["anytime"] is not None:
        low, high = uplift["anytime"]["low"], uplift["anytime"]["high"]
    if low is None:
        return f"Too early: {uplift['too_early']}."
    if low > 0.0:
        return f"It pays: the learned lists bring {_more(uplift)}."
    if high is not None and high < 0.0:
        return f"It costs: the learned lists bring {_less(uplift)}."
    return "Not clear: the interval of the difference includes zero."


def _more(uplift: UpliftDocument) -> str:
    """The gain over the holdout: in per cent, or as a multiple from 2 on."""
    of_clicks = uplift["measure"] == "click_rate"
    what = "clicks per view" if of_clicks else "value per view"
    if uplift["ratio"] is None:
        return f"more {what}"
    times = uplift["ratio"]["estimate"]
    if times >= TWICE:
        return f"{times:.1f} times as {'many' if of_clicks else 'much'} {what}"
    return f"{100.0 * (times - 1.0):.2g} % more {what}"


def _less(uplift: UpliftDocument) -> str:
    less, what = ("fewer", "clicks per view") if uplift["measure"] == "click_rate" else ("less", "value per view")
    if uplift["ratio"] is None:
        return f"{less} {what}"
    return f"{100.0 * (1.0 - uplift['ratio']['estimate']):.2g} % {less} {what}"
