# `make compare` and `make test` need python3, pip and git; everything else they put in .venv and .uv.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

BIN := .venv/bin
READY := .venv/ready
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2
KILLS ?= 100
POSITIONS ?= 20000
PLAIN := "not (compiled or slow or faults or cluster or browser)"
# A shim on the PATH may stand for a uv that is not there, so it has to answer.
UV := $(shell uv --version >/dev/null 2>&1 && echo uv || echo .uv/bin/uv)

.PHONY: help setup compare test faults quickfaults recursion coverage plain bounds check format lab notebooks lock clean

help:
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 18

# Settings of this user's pip that say where, and whether, it installs; those that say from where stay.
PIP := env -u PIP_ROOT -u PIP_DRY_RUN -u PIP_REQUIRE_HASHES -u PIP_CONSTRAINT -u PIP_PYTHON PIP_REQUIRE_VIRTUALENV=0 \
	python3 -m pip install --quiet --disable-pip-version-check --no-user --prefix=

.uv/bin/uv:
	$(PIP) --target .uv uv

# The stamp names the folder: an environment that came with a copy would run the original's code.
ifneq ($(file <$(READY)),$(CURDIR))
.PHONY: $(READY)
endif

$(READY): requirements.lock pyproject.toml | $(filter .uv/%,$(UV))
	if [ "$$(cat $@ 2>/dev/null)" != "$(CURDIR)" ]; then rm -rf .venv; fi
	$(UV) venv --quiet --allow-existing --python '>=3.11' .venv
	$(UV) pip install --quiet --python $(BIN)/python -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	echo "$(CURDIR)" >$@

setup: $(READY) ## the environment in .venv, nothing else

compare: $(READY) ## play the quick comparison and report it with intervals
	$(BIN)/t48lab run experiments/quick.toml

test: $(READY) ## the test suite, on WORKERS processes: about 12 minutes on two cores
	$(PYTEST) -n $(WORKERS) -m "not faults"

faults: $(READY) ## kill processes KILLS times, fill disks, damage files, and look at thousands of hostile texts
	T48LAB_KILLS=$(KILLS) $(PYTEST) -m faults -s
	T48LAB_EXAMPLES=3000 $(PYTEST) tests/test_properties.py

quickfaults: $(READY) ## the fault tests with few kills and few compilations
	T48LAB_KILLS=2 $(PYTEST) -n $(WORKERS) --dist loadfile -m "faults and not slow"

recursion: $(READY) ## every search against plain recursion on POSITIONS positions, with its table and without
	T48LAB_POSITIONS=$(POSITIONS) $(PYTEST) -n $(WORKERS) tests/test_recursion.py

coverage: $(READY) ## lines that no test reaches; kernels count where they run as plain Python
	$(PYTEST) -n $(WORKERS) -m "not faults" --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) -m $(PLAIN) --cov --cov-append --cov-report=
	$(BIN)/coverage report --include='t48lab/kernels/*' --skip-covered
	$(BIN)/coverage report --omit='t48lab/kernels/*' --skip-covered --fail-under=95

plain: $(READY) ## the small tests in plain Python, without the JIT
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) -m $(PLAIN)

bounds: $(READY) ## the test suite with every array index checked
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/bounds $(PYTEST) -n $(WORKERS) -m "not (faults or cluster or browser)"

check: $(READY) ## style, types, imports, and the small tests without the JIT
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) plain

format: $(READY) ## rewrite files in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lab: $(READY) ## JupyterLab on the notebooks, which it trusts
	$(BIN)/jupyter trust notebooks/*.ipynb
	$(BIN)/jupyter lab --notebook-dir notebooks

notebooks: $(READY) ## run every notebook from a clean kernel
	$(BIN)/t48lab notebooks

# Versions move only here: a plain `make lock` keeps what is locked, LOCK=--upgrade takes the newest.
lock: | $(filter .uv/%,$(UV)) ## write requirements.lock from pyproject.toml
	$(UV) pip compile pyproject.toml $(LOCK) --quiet --all-extras --universal --python-version 3.11 --fork-strategy fewest \
		--no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock

clean: ## remove the environment, the caches and the quick results
	rm -rf .venv .uv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage results/quick results/tune_quick
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
