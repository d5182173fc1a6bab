"""choix: Luce's choice model with nothing as one more item. It has no position bias: its log must have none."""

from __future__ import annotations

import json
import sys
import time

import choix
import numpy as np


def main() -> None:
    """Read the log from a file of numpy, and print estimates and seconds as JSON."""
    log = np.load(sys.argv[1])
    shown, clicked, items = log["shown"], log["clicked"], int(log["items"])
    began = time.process_time()
    choices = []
    for ranking, place in zip(shown.tolist(), clicked.tolist(), strict=True):
        offered = [*ranking, items]
        winner = offered.pop(place)
        choices.append((winner, tuple(offered)))
    values = choix.opt_top1(items + 1, choices)
    seconds = time.process_time() - began
    slots = [0.0] * shown.shape[1]
    answer = {"log_attractiveness": (values[:-1] - values[-1]).tolist(), "log_position_bias": slots, "seconds": seconds}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
