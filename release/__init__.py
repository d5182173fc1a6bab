"""Build, check and describe a release: `python -m release`. Nothing of this is in the package."""
