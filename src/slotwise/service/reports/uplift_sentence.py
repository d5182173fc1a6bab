"""Does it pay, in one sentence."""

from __future__ import annotations

from typing import Final

from slotwise.service.schemas.report_schemas import UpliftDocument

#: from here on it is said how many times as much, and not how many per cent more
TWICE: Final = 2.0


def pays(uplift: UpliftDocument | None, holdout: float, *, every_day: bool) -> str:
    """What a comparison of the learned lists with the holdout means.

    For those who look `every_day` it rests on the interval that allows that, else on the plain one.
    """
    if uplift is None:
        if holdout == 0.0:
            return "Not measured: there is no holdout to compare with."
        return "Not known yet: in this time, both the learned lists and the holdout need views that are counted."
    low, high = uplift["low"], uplift["high"]
    if every_day and uplift["anytime"] is not None:
        low, high = uplift["anytime"]["low"], uplift["anytime"]["high"]
    if low is None:
        return f"Too early: {uplift['too_early']}."
    if low > 0.0:
        return f"It pays: the learned lists bring {_more(uplift)}."
    if high is not None and high < 0.0:
        return f"It costs: the learned lists bring {_less(uplift)}."
    return "Not clear: the difference may be nothing."


def _more(uplift: UpliftDocument) -> str:
    """How much more, beside the holdout: in per cent, or as a multiple from twice as much on."""
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
