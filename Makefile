# Everything below sets itself up: python3 >= 3.11, make and a package registry are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# one worker per core; PYTEST_ARGS= for one after the other
PYTEST_ARGS ?= -n auto --dist loadgroup

.PHONY: help paper serve test lint types layers pytest bench pin clean

help:
	@echo "make paper   the paper's experiments: figures, tables, claims and a report in results/paper"
	@echo "make serve   the service on this machine, with a demo placement"
	@echo "make test    lint, types, import layers, tests and doctests"
	@echo "make lint    ruff, mypy and import-linter alone"
	@echo "make bench   speeds, as ratios measured in one run"
	@echo "make pin     renew requirements-dev.txt from pyproject.toml"
	@echo "make clean   remove what was built"

$(READY): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "slotwise needs Python 3.11 or newer, this is " + sys.version)'
	@echo "setting up $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo "compiling the policies …"
	@$(BIN)/python -m slotwise.simulate.warm_up
	@touch $(READY)

paper: $(READY)
	$(BIN)/slotwise paper

serve: $(READY)
	$(BIN)/slotwise serve --config docs/serve.toml

test: lint pytest

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

pytest: $(READY)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(READY)
	$(BIN)/python -m benchmarks

pin: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --extra plot --extra frames --extra cli --extra logs --extra spark --extra serve --group dev --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade -o requirements-dev.txt

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
