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

.PHONY: demo test lint install install-dev install-text install-reader bench clean

demo: install
	$(BIN)/proprl demo

test: install-dev
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser and not publicdata and not reader"

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install-dev
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/startup.py

install: $(VENV)/installed
install-dev: $(VENV)/installed-dev
install-text: $(VENV)/installed-text
install-reader: $(VENV)/installed-reader

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

clean:
	rm -rf $(VENV) proprl-demo
