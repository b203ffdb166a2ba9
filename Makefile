# Two commands set everything up on a machine that has Python and make:
#   make demo    install, train on the bundled course, write a report
#   make test    install what tests need, run them
PYTHON ?= python3
VENV   ?= .venv
TORCH  ?= $(shell grep '^torch==' constraints.txt)
BIN    := $(VENV)/bin
# constraints.txt pins torch to a version whose CPU build pip finds; .ci/run fails when a CUDA
# package comes along. Elsewhere, name a CPU build: make demo TORCH=path-or-requirement
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test quick lint fmt install install-dev install-text install-reader bench clean
.DEFAULT_GOAL := help

help:  ## list what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name line; do \
		printf '%-16s%s\n' "$$name" "$$line"; done

demo: install  ## install, train on the bundled course, write a report
	$(BIN)/proprl demo

test: install-dev  ## the tests a change must pass; about a minute and a half
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not browser and not publicdata and not reader"

quick: install-dev  ## what failed last and tests of what changed; half a minute at most
	$(BIN)/python tools/quick_tests.py

lint: install-dev  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: install-dev  ## put the code into shape, and repair what can be repaired by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install-dev  ## training and start-up times, as ratios of one run
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/startup.py

install: $(VENV)/installed  ## the library, into .venv
install-dev: $(VENV)/installed-dev  ## and what tests and checks need
install-text: $(VENV)/installed-text  ## and better text vectors (230 MB)
install-reader: $(VENV)/installed-reader  ## and what a language model needs to read

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

# torch first and alone: pip then keeps it instead of looking for a newer one.
$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) "$(TORCH)"
	$(PIP) -e .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) -e ".[dev]"
	touch $@

$(VENV)/installed-text: $(VENV)/installed-dev
	$(PIP) -e ".[text]"
	touch $@

$(VENV)/installed-reader: $(VENV)/installed-dev
	$(PIP) -e ".[reader]"
	touch $@

clean:  ## remove .venv and the demo's report
	rm -rf $(VENV) proprl-demo
