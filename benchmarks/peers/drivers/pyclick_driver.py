"""The method of PyClick, which is in no registry: its position-based model by fifty steps of EM from ½."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

STEPS = 50


def main() -> None:
    """Read the log from a file of numpy, and print estimates and seconds as JSON."""
    log = np.load(sys.argv[1])
    shown, clicks, items = log["shown"], log["clicks"].astype(float), int(log["items"])
    began = time.process_time()
    slots = shown.shape[1]
    attraction, examination = np.full(items, 0.5), np.full(slots, 0.5)
    views = np.bincount(shown.ravel(), minlength=items)
    for _ in range(STEPS):
        a = attraction[shown]
        # the probabilities, given the click or its absence, that the item attracts and that the slot is examined
        attracts = np.where(clicks > 0.0, 1.0, a * (1.0 - examination) / (1.0 - a * examination))
        examines = np.where(clicks > 0.0, 1.0, examination * (1.0 - a) / (1.0 - a * examination))
        # a prior of one success in two
        attraction = (1.0 + np.bincount(shown.ravel(), attracts.ravel(), minlength=items)) / (2.0 + views)
        examination = (1.0 + examines.sum(axis=0)) / (2.0 + len(shown))
    answer = {
        "log_attractiveness": np.log(attraction).tolist(),
        "log_position_bias": np.log(examination / examination[0]).tolist(),
        "seconds": time.process_time() - began,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
