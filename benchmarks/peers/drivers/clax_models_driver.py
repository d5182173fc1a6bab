"""CLAX: its position-based model, by gradient descent as in its own examples."""

from __future__ import annotations

import contextlib
import json
import sys
import time

import jax.numpy as jnp
import numpy as np
import optax
from clax import PositionBasedModel, Trainer
from flax import nnx

BATCH = 512


def main() -> None:
    """Read the log from a file of numpy, and print estimates and seconds as JSON."""
    log = np.load(sys.argv[1])
    shown, clicks, items = log["shown"], log["clicks"], int(log["items"])
    began = time.process_time()
    views, slots = shown.shape
    places = np.broadcast_to(np.arange(slots), shown.shape)
    batches = [
        {
            "positions": jnp.asarray(places[first : first + BATCH]),
            "query_doc_ids": jnp.asarray(shown[first : first + BATCH]),
            "clicks": jnp.asarray(clicks[first : first + BATCH].astype(np.float32)),
            "mask": jnp.ones(shown[first : first + BATCH].shape, bool),
        }
        for first in range(0, views - BATCH + 1, BATCH)
    ]
    model = PositionBasedModel(positions=slots, query_doc_pairs=items, rngs=nnx.Rngs(1))
    with contextlib.redirect_stdout(sys.stderr):
        Trainer(optax.adam(0.03)).train(model, batches, batches)
    every = {"query_doc_ids": jnp.arange(items)[None], "positions": jnp.arange(slots)[None]}
    attraction, examination = (
        np.asarray(parameter.log_prob(every)).ravel() for parameter in (model.attraction, model.examination)
    )
    answer = {
        "log_attractiveness": attraction.tolist(),
        "log_position_bias": (examination - examination[0]).tolist(),
        "seconds": time.process_time() - began,
    }
    print(json.dumps(answer, default=float))


if __name__ == "__main__":
    main()
