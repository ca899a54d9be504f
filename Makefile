# `make help` lists the targets. Everything needs only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check fix faults verify lock clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## Evaluate three reference agents: the memorizer is the argument for the product
	@rm -rf runs/demo
	@echo "=== ref:memorizer knows the published scenarios by heart ===" && $(BIN)/sirocco run --agent ref:memorizer --seed 20 --out runs/demo/memorizer
	@echo && echo "=== ref:careful judges what it is asked to do ===" && $(BIN)/sirocco run --agent ref:careful --seed 20 --out runs/demo/careful
	@echo && echo "=== ref:naive does whatever it is told ===" && { $(BIN)/sirocco run --agent ref:naive --seed 20 --out runs/demo/naive; test $$? -eq 1; }

test: $(READY) ## Run the tests
	$(BIN)/pytest --numprocesses auto

check: $(READY) ## Lint, types, import contracts
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY) ## Format, and apply safe lint fixes
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

faults: $(READY) ## Break each requirement on purpose and show which tests notice
	$(BIN)/python tests/faults/run.py

verify: $(READY) ## The long suites
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest --numprocesses auto
	$(BIN)/python tests/faults/run.py

lock: ## Pin every dependency with hashes (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group dev pyproject.toml --output-file requirements.lock --custom-compile-command "make lock"

clean: ## Remove the virtual environment and the runs
	rm -rf $(VENV) runs
