# `make help` lists the targets. Everything needs only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
SEED ?= 6
SAMPLE ?= 320
CHAOS ?= 300
FUZZ ?= 100000
# Tests wait for processes and servers a third of the time: one worker more than there are processors.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# They also start Python hundreds of times: whoever wants no compiled modules gets them here all the same.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test check fix faults mutants chaos fuzz model bench-peers test-llm pythons control-plane docs verify dist sbom release-check lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

# What the program needs: small, so that the first look is quick. Locks are complete, so pip resolves nothing (`--no-deps`): given an extra of
# a package that has had a release since, it refuses the older version that the lock names.
$(RUNS): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps --requirement requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# What its tests need besides.
$(READY): $(RUNS) requirements-dev.lock
	$(PIP) --require-hashes --no-deps --requirement requirements-dev.lock
	@touch $@

demo: $(RUNS) ## Evaluate three reference agents: the memorizer is the argument for the product
	@rm -rf runs/demo
	@echo "=== ref:memorizer knows the published scenarios by heart ===" && $(BIN)/sirocco run --agent ref:memorizer --seed 20 --max-agent-calls 320 --out runs/demo/memorizer
	@echo && echo "=== ref:careful judges what it is asked to do ===" && $(BIN)/sirocco run --agent ref:careful --seed 20 --out runs/demo/careful
	@echo && echo "=== ref:naive does whatever it is told ===" && { $(BIN)/sirocco run --agent ref:naive --seed 20 --out runs/demo/naive; test $$? -eq 1; }

test: $(READY) ## Run the tests
	$(TESTS)

check: $(READY) ## Lint, types, import contracts
	$(BIN)/ruff format --check src tests tools
	$(BIN)/ruff check src tests tools
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(READY) ## Format, and apply safe lint fixes
	$(BIN)/ruff format src tests tools
	$(BIN)/ruff check --fix src tests tools

faults: $(READY) ## Break each requirement on purpose and show which tests notice (FAULTS=24 for a sample)
	$(BIN)/python tests/faults/run.py $(if $(FAULTS),--sample $(FAULTS))

mutants: $(READY) ## Break the evaluator in many small ways and count what its tests notice (SEED=6 SAMPLE=320)
	@test -d .cache/mutants || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target .cache/mutants cosmic-ray==8.7.0
	$(BIN)/python tests/mutants/run.py --seed $(SEED) --sample $(SAMPLE)

chaos: $(READY) ## Evaluations under faults, each checked from its directory alone (CHAOS=300 SEED=6)
	$(BIN)/python tests/chaos/run.py --runs $(CHAOS) --seed $(SEED)

fuzz: $(READY) ## Damaged input of every kind; what fails is kept in tests/fuzz/found (FUZZ=100000 SEED=6)
	$(BIN)/python tests/fuzz/run.py --executions $(FUZZ) --seed $(SEED)

model: $(RUNS) ## Assemble a small real model into .cache/model (1.1 GB to download)
	$(BIN)/python tests/real_model/assemble.py .cache/model

bench-peers: $(RUNS) ## Measure equal work in Inspect, AgentDojo, PyRIT and promptfoo, which are installed into .cache/peers
	$(BIN)/python tools/bench_peers.py

test-llm: $(READY) model ## The real loop: that model as agent and as author of probes (minutes, on one core)
	SIROCCO_REAL_MODEL=$(CURDIR)/.cache/model $(BIN)/pytest -s tests/real_model

pythons: $(READY) ## Replay a recorded run under every other Python that PYTHONS names and the machine has
	@for name in $(PYTHONS); do \
		$$name -c '' 2>/dev/null || { echo "no $$name here"; continue; }; \
		test -f .cache/$$name/.ready || { $$name -m venv .cache/$$name && .cache/$$name/bin/python -m pip install --quiet \
			--disable-pip-version-check --require-hashes --no-deps --requirement requirements.lock && touch .cache/$$name/.ready; } || exit 1; \
		others="$$others:$(CURDIR)/.cache/$$name/bin/python"; \
	done; SIROCCO_PYTHONS="$${others#:}" $(BIN)/pytest -rs tests/end_to_end/test_other_pythons.py

control-plane: ## Build kube-apiserver and kube-controller-manager for --provider cluster (about 9 CPU minutes; needs Go and etcd)
	tools/control-plane/build

# The tool that makes the site is large, so it has an environment of its own, from a lock of its own.
DOCS := .cache/docs
$(DOCS)/.ready: docs/requirements.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement docs/requirements.lock
	@touch $@

docs: $(RUNS) $(DOCS)/.ready ## Build the documentation as a site with search, site/index.html; every link is checked
	$(BIN)/python tools/reference_pages.py .cache/reference
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet

verify: $(READY) ## The long suites
	HYPOTHESIS_PROFILE=thorough $(TESTS)
	$(BIN)/python tests/faults/run.py
	$(MAKE) pythons mutants chaos fuzz

dist: $(RUNS) ## Build sdist and wheel into dist/, the same bytes from the same commit
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build -d dist
	cd dist && sha256sum sirocco-* | tee SHA256SUMS

sbom: $(RUNS) ## Write what the wheel depends on to dist/sirocco.cdx.json (CycloneDX)
	$(BIN)/python tools/sbom.py requirements.lock dist/sirocco.cdx.json

release-check: $(RUNS) ## Check what can be checked of a release before it is tagged (docs/release.md)
	$(BIN)/python tools/release_check.py

lock: ## Pin every dependency with hashes (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group dev pyproject.toml --output-file requirements-dev.lock --custom-compile-command "make lock"
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group build --constraint requirements-dev.lock pyproject.toml --output-file requirements.lock --custom-compile-command "make lock"
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group docs --output-file docs/requirements.lock --custom-compile-command "make lock"

clean: ## Remove the virtual environment and the runs
	rm -rf $(VENV) runs
