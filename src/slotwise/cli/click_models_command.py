"""`slotwise fit --click-model`: which click model describes a page, and its users as a problem for `simulate`."""

from __future__ import annotations

import json
from pathlib import Path

from slotwise.cli.shared.console import note, progress_bar, show
from slotwise.cli.shared.log_options import LogArguments
from slotwise.core.errors import UnknownName, UnwritableFile
from slotwise.core.io import replacing

COMPARE = "compare"


def fit_click_models(
    log: LogArguments, model: str, *, out: Path | None, problem_out: Path | None, at: str | None, as_json: bool
) -> None:
    """Compare click models on a log, or fit one of them, and write its users to a file."""
    from slotwise import logs

    if model not in (COMPARE, *logs.CLICK_MODELS):
        raise UnknownName("click model", model, [COMPARE, *logs.CLICK_MODELS])
    if problem_out is not None and not problem_out.absolute().parent.is_dir():
        raise UnwritableFile(f"there is no folder {problem_out.parent} to write {problem_out.name} into")
    problem = None
    with progress_bar() as tell:
        source = log.source()
        comparison = logs.compare_click_models(source, progress=tell)
        if problem_out is not None:
            problem = comparison.problem(None if model == COMPARE else model, at)
        elif model != COMPARE:
            comparison.require(model)
    if as_json:
        print(json.dumps(comparison.to_dict(), allow_nan=False))
    else:
        show(logs.click_model_text(comparison))
    if out is not None:
        note(f"Report: {logs.write_click_models(comparison, out, source=source.name)}", quiet=as_json)
    if problem_out is not None and problem is not None:
        with replacing(problem_out) as file:
            file.write(json.dumps(problem).encode())
        command = f"slotwise simulate --problem {problem_out} --policy thompson-sampling"
        note(f"Users of {problem['model']}: {command}", quiet=as_json)
