# Each target does its own set-up: Python 3.11 and make are all a machine needs.

PYTHON ?= python3.11
JOBS ?= 2
SEEDS ?= 20
REQUESTS ?= 1000

BIN := .venv/bin
REFERENCE := .venv-reference/bin
COMPILE := $(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help install run test check conformance differential lint format types docs lock clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: .venv/.installed ## make .venv with Plimsoll and everything to work on it

run: .venv/.installed ## serve on http://127.0.0.1:8778, development auth, database under ./var
	$(BIN)/plimsoll serve --dev

test: .venv/.installed .venv-reference/.installed ## all tests, then the reference's own cases
	@failed=0; \
	echo "== tests"; \
	$(BIN)/python -m pytest || failed=1; \
	echo "== conformance: the reference's own cases, against Plimsoll"; \
	$(REFERENCE)/python -m tests.conformance --jobs $(JOBS) || failed=1; \
	exit $$failed

check: test lint types ## everything that must hold before a change goes in

conformance: .venv-reference/.installed ## the reference's own cases (CASES="substring ..." for some)
	$(REFERENCE)/python -m tests.conformance --jobs $(JOBS) $(CASES)

differential: .venv/.installed .venv-reference/.installed ## random requests to both services, answers compared
	$(BIN)/python -m tests.differential --seeds $(SEEDS) --requests $(REQUESTS)

lint: .venv/.installed ## style, format, layers, changelog
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/towncrier build --draft --version check > /dev/null

format: .venv/.installed ## put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: .venv/.installed ## mypy, strict
	$(BIN)/mypy

docs: .venv/.installed ## write the pages that are made from the code
	$(BIN)/python -m tests.docs.versions

lock: .venv/.installed ## write the lock files anew (UPGRADE=--upgrade for the newest versions)
	$(COMPILE) $(UPGRADE) --extra dev --output-file requirements.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra reference --output-file requirements-reference.lock pyproject.toml

clean: ## remove what the other targets made, the database under ./var included
	rm -rf .venv .venv-reference var build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written when an environment is complete, so an interrupted installation starts again.
.venv/.installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv-reference/.installed: requirements-reference.lock pyproject.toml
	test -x $(REFERENCE)/python || $(PYTHON) -m venv .venv-reference
	$(REFERENCE)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-reference.lock
	$(REFERENCE)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
