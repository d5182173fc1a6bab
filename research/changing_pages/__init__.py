"""The study of changing pages: segments, new items, features, drift and delayed outcomes."""
