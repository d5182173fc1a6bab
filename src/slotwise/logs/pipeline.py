"""From a click log to its fits: `fit` and `fit_placements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from slotwise.core.errors import InvalidInput
from slotwise.estimators.pooled import POOLED
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.fitting.fit_log import MAX_PLACEMENTS, SAMPLE, FitSettings, Progress, fit_log
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.multi_click_sensitivity import fit_under_each_rule
from slotwise.logs.fitting.placement_pooling import Bias
from slotwise.logs.fitting.recommendation import Recommend
from slotwise.logs.reading.columns import Columns, Strata
from slotwise.logs.reading.feature_file import Row
from slotwise.logs.reading.log_source import LogOptions, LogSource


class FitOptions(LogOptions, total=False):
    """The options of `fit_placements`."""

    estimator: str
    bias: Bias
    position_bias: Sequence[float] | None
    features: Mapping[str, Row] | None
    segment: str | Sequence[str]
    time: str | None
    multi_click: MultiClick | None
    each_rule: bool
    sample: int | None
    recommend: Recommend
    progress: Progress | None


def fit(source: object, columns: Columns | None = None, **options: Unpack[FitOptions]) -> Fit:
    """Fit a log of one placement.

    Parameters
    ----------
    source
        A log as `slotwise.logs.read` takes it, or a `slotwise.logs.LogSource`.
    columns
        The names of its columns.
    options
        The options of `fit_placements`.

    Returns
    -------
    Fit
        Attractiveness and position bias with intervals.

    Raises
    ------
    InvalidInput
        If the log has a column of placements.

    Examples
    --------
    >>> import pyarrow as pa
    >>> log = pa.table({
    ...     "impression": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...     "slot": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2],
    ...     "item": ["tea", "milk", "milk", "tea", "tea", "milk", "milk", "tea", "tea", "milk"],
    ...     "clicked": [1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
    ... })
    >>> fitted = fit(log)
    >>> fitted.impressions, fitted.estimate.position_bias.round(2), round(fitted.log_likelihood, 2)
    (5, array([1.  , 1.34]), -5.22)
    """
    columns = columns or (source.columns if isinstance(source, LogSource) else None)
    placement = options.get("placement", columns and columns.placement)
    if placement is not None:
        raise InvalidInput(f"a log with placements has a fit for each: use fit_placements, got placement={placement!r}")
    (single,) = fit_placements(source, columns, **options)
    return single


def fit_placements(
    source: object,
    columns: Columns | None = None,
    *,
    estimator: str = POOLED,
    bias: Bias = "auto",
    position_bias: Sequence[float] | None = None,
    features: Mapping[str, Row] | None = None,
    segment: str | Sequence[str] = (),
    time: str | None = None,
    multi_click: MultiClick | None = None,
    each_rule: bool = False,
    sample: int | None = SAMPLE,
    max_placements: int = MAX_PLACEMENTS,
    recommend: Recommend = "auto",
    progress: Progress | None = None,
    **options: Unpack[LogOptions],
) -> list[Fit]:
    """Fit every placement of a log, in order of their names.

    By default placements are partially pooled.

    Parameters
    ----------
    source
        A log as `slotwise.logs.read` takes it, or a `slotwise.logs.LogSource`.
    columns
        The names of its columns; they may also be given one by one, like the fields of `slotwise.logs.Columns`.
    estimator
        One of `slotwise.logs.ESTIMATOR_NAMES`.
    bias
        Whether placements share one position bias, have their own, or use the one that predicts better.
    position_bias
        The position bias of every slot, if it is known.
    features
        The features of items by their ids, numbers and text. Estimates of rarely shown items are shrunk toward the
        prediction from their features, as far as the log supports it.
    segment
        The column or columns that name the segment of an impression. Every fit then has `segments`, partially pooled.
    time
        The column that holds the time of an impression. Every fit then has `changes`. If recent clicks predict later
        ones better than old ones do, older impressions lose weight, with a half-life that is selected from the log.
    multi_click
        Which of several clicks counts: "first", "last" or "drop".
    each_rule
        Whether to fill `by_rule`: the list and its click rate under each value of `multi_click`. If the order of
        clicks is known, the log is read and fitted again under each rule, unless it is long.
    sample
        The maximum number of impressions to keep whole lists of. Maximum likelihood and inverse propensity need all.
    recommend
        "auto" to recommend nothing if more than a tenth of the log is left out; "always" to recommend a list anyway.
    max_placements
        The maximum number of placements to fit: those with the most rows.
    progress
        Called with each step and the completed share of it, None if that is unknown.
    options
        Names of columns, or options of `slotwise.logs.read`.

    Returns
    -------
    list of Fit
        A fit for each placement.
    """
    log_source = LogSource.of(source, columns, **options)
    settings = FitSettings(
        estimator=estimator,
        bias=bias,
        position_bias=position_bias,
        features=features,
        strata=Strata((segment,) if isinstance(segment, str) else tuple(segment), time),
        multi_click=multi_click,
        sample=sample,
        max_placements=max_placements,
        recommend=recommend,
    )
    fitted = fit_log(log_source, settings, progress)
    return fit_under_each_rule(fitted, log_source, settings, progress) if each_rule else fitted
