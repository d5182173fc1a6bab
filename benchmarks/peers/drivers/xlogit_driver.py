"""xlogit: a multinomial logit with a coefficient for each item and each slot but the first."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from xlogit import MultinomialLogit


def main() -> None:
    """Read the log from a file of numpy, and print estimates and seconds as JSON."""
    log = np.load(sys.argv[1])
    shown, clicked, items = log["shown"], log["clicked"], int(log["items"])
    began = time.process_time()
    views, slots = shown.shape
    # long format: for each view nothing first, then what was in each slot
    design = np.zeros((views, slots + 1, items + slots - 1), dtype=np.float64)
    for slot in range(slots):
        design[np.arange(views), slot + 1, shown[:, slot]] = 1.0
        if slot:
            design[:, slot + 1, items + slot - 1] = 1.0
    chosen = np.zeros((views, slots + 1))
    chosen[np.arange(views), clicked + 1] = 1.0
    names = [f"item{item}" for item in range(items)] + [f"slot{slot}" for slot in range(1, slots)]
    model = MultinomialLogit()
    model.fit(
        X=design.reshape(-1, design.shape[2]),
        y=chosen.reshape(-1),
        varnames=names,
        alts=np.tile(np.arange(slots + 1), views),
        ids=np.repeat(np.arange(views), slots + 1),
        verbose=0,
    )
    seconds = time.process_time() - began
    values, errors = np.asarray(model.coeff_), np.asarray(model.stderr)
    print(
        json.dumps(
            {
                "log_attractiveness": values[:items].tolist(),
                "log_position_bias": [0.0, *values[items:].tolist()],
                "errors": errors[:items].tolist(),
                "seconds": seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
