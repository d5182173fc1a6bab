"""Does it pay, in one sentence."""

from __future__ import annotations

from slotwise.service.worker.documents import UpliftDocument


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
        return "It pays: the learned lists bring more."
    if high is not None and high < 0.0:
        return "It costs: the holdout brings more."
    return "Not clear: the difference may be nothing."
