"""How well a fit predicts: click models, held-out clicks, off-policy estimates."""
