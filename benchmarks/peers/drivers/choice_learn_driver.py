"""choice-learn: a multinomial logit with a coefficient for each item and each slot but the first."""

from __future__ import annotations

import contextlib
import json
import sys
import time

import numpy as np
from choice_learn.data import ChoiceDataset
from choice_learn.models import SimpleMNL


def main() -> None:
    """Read the log from a file of numpy, and print estimates and seconds as JSON."""
    log = np.load(sys.argv[1])
    shown, clicked, items = log["shown"], log["clicked"], int(log["items"])
    began = time.process_time()
    views, slots = shown.shape
    # for each view nothing first, then what was in each slot
    design = np.zeros((views, slots + 1, items + slots - 1), dtype=np.float32)
    for slot in range(slots):
        design[np.arange(views), slot + 1, shown[:, slot]] = 1.0
        if slot:
            design[:, slot + 1, items + slot - 1] = 1.0
    # it reports on standard output
    with contextlib.redirect_stdout(sys.stderr):
        model = SimpleMNL(intercept=None, optimizer="lbfgs")
        model.fit(ChoiceDataset(choices=clicked + 1, items_features_by_choice=design), get_report=True)
    seconds = time.process_time() - began
    values, errors = model.trainable_weights[0].numpy(), model.report["Std. Err"].to_numpy()
    answer = {
        "log_attractiveness": values[:items].tolist(),
        "log_position_bias": [0.0, *values[items:].tolist()],
        "errors": errors[:items].tolist(),
        "seconds": seconds,
    }
    print(json.dumps(answer, default=float))


if __name__ == "__main__":
    main()
