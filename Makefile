# Each target does its own set-up: Python 3.11 and make are all a machine needs.

PYTHON ?= python3.11
JOBS ?= 2
WORKERS ?= 2
SEEDS ?= 20
REQUESTS ?= 1000
# sqlite, postgresql or mariadb for one, all for all three; without it, those that are here.
DB := $(or $(DB),$(PLIMSOLL_TEST_DB))
export PLIMSOLL_TEST_DB := $(DB)
# all: tests whose result cannot depend on the database run on each of them, too.
export PLIMSOLL_TEST_ENGINES := $(ENGINES)
# Tests start some hundred processes. Without compiled files each of them compiles every module (a second of processor time).
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
REFERENCE := .venv-reference/bin
CLOUD := .venv-cloud/bin
NOVA := .venv-nova/bin
SITE := .venv-site/bin
# Folders of tests that have a target of their own, which .ci/run runs; `make test` leaves them out.
SUITES := attacks browser cloud deploy faults takeover
DATABASES := dbs=$$($(BIN)/python -m tests.support.databases) || exit 1
COMPILE := $(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help install run run-demo console test takeover attacks faults test-browser deployments cloud nova check conformance differential audit fuzz openapi bench bench-quick lint format types docs site lock clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: .venv/.installed ## make .venv with Plimsoll and everything to work on it

run: .venv/.serving .console ## serve on http://127.0.0.1:8778, development auth, database under ./var
	$(BIN)/plimsoll serve --dev

run-demo: .venv/.serving .console ## the same with a made-up cloud and live traffic, database ./var/demo.sqlite (HOSTS=10000 RATE=20 PORT=8778)
	$(BIN)/plimsoll demo --serve --live --hosts $(or $(HOSTS),500) --rate $(or $(RATE),5) --port $(or $(PORT),8778)

console: .venv/.serving ## build the web console into src/plimsoll/console_static; Node.js from PyPI if there is none
	$(BIN)/python console/build.py

test: .venv/.installed .venv-reference/.installed .console ## tests and the ten slowest, then the reference's own cases (DB=sqlite, postgresql, mariadb or all)
	@$(DATABASES); failed=0; \
	echo "== tests"; \
	$(BIN)/python -m pytest -n $(WORKERS) --durations 10 $(SUITES:%=--ignore tests/%) || failed=1; \
	for db in $$dbs; do \
		echo "== conformance on $$db: the reference's own cases, against Plimsoll"; \
		$(REFERENCE)/python -m tests.conformance --database $$db --jobs $(JOBS) || failed=1; \
	done; \
	echo "== not part of make test: taking over a database (make takeover), attacks (make attacks), databases that fail (make faults), the console in a browser (make test-browser), deploy/ (make deployments), Keystone and clients (make cloud), nova (make nova)"; \
	exit $$failed

takeover: .venv/.installed .venv-reference/.installed ## databases of the reference, of each release since Stein, taken over and handed back (DB=...)
	$(BIN)/python -m pytest -n $(WORKERS) tests/takeover

attacks: .venv/.installed ## slow, large and malformed requests, with a second client that must be served meanwhile
	$(BIN)/python -m pytest -n $(WORKERS) tests/attacks

faults: .venv/.installed ## databases killed, cut off, paused, full, restored, and a Galera cluster (DB=...)
	PLIMSOLL_FAULTS=all $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/faults

test-browser: .venv/.installed .console ## the web console in a real Chromium; pictures of each view in ./var/pictures
	@if $(BIN)/python -m tests.browser.chromium; then $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -rs tests/browser; fi

deployments: .venv/.installed ## the examples of deploy/, started
	$(BIN)/python -m pytest -n $(WORKERS) tests/deploy

cloud: .venv/.installed .venv-reference/.installed .venv-cloud/.installed ## a real Keystone, and real clients
	$(BIN)/python -m pytest tests/cloud --ignore tests/cloud/nova

nova: .venv/.installed .venv-nova/.installed ## boots of a real nova, and what Plimsoll reports of those that fail
	$(BIN)/python -m pytest tests/cloud/nova

check: test lint types ## everything that must hold before a change goes in

conformance: .venv/.installed .venv-reference/.installed ## the reference's own cases (CASES="substring ..." for some; DB=...)
	@$(DATABASES); failed=0; for db in $$dbs; do echo "== $$db"; \
		$(REFERENCE)/python -m tests.conformance --database $$db --jobs $(JOBS) $(CASES) || failed=1; \
	done; exit $$failed

differential: .venv/.installed .venv-reference/.installed ## random requests to both services, responses compared (DB=...)
	@$(DATABASES); failed=0; for db in $$dbs; do echo "== $$db"; \
		$(BIN)/python -m tests.differential --database $$db --seeds $(SEEDS) --requests $(REQUESTS) || failed=1; \
	done; exit $$failed

audit: .venv/.installed ## four services, eight clients, killed or not, every response audited (DB=..., galera too; AUDIT="--seconds 20")
	@failed=0; for db in $(or $(filter-out all,$(DB)),sqlite postgresql mariadb galera); do for kills in "" --kills; do \
		$(BIN)/python -m tests.audit --database $$db $$kills --seeds 1 2 3 $(AUDIT) || failed=1; \
	done; done; exit $$failed

fuzz: REQUESTS = 100000
fuzz: .venv/.installed ## mutated requests against a running service (DB=...; REQUESTS=2000 SEED=7 for others)
	@$(DATABASES); failed=0; for db in $$dbs; do echo "== $$db"; \
		$(BIN)/python -m tests.attacks.fuzz --database $$db --seed $(or $(SEED),1) --requests $(REQUESTS) || failed=1; \
	done; exit $$failed

openapi: EXAMPLES = 100
openapi: .venv/.installed ## schemathesis with the OpenAPI documents of a running service (DOCUMENTS="v1 1.39", EXAMPLES=20)
	$(BIN)/python -m tests.openapi --examples $(EXAMPLES) $(DOCUMENTS)

bench: .venv/.installed .venv-reference/.installed ## measure both services, alternating (DB=mariadb, postgresql or sqlite)
	$(BIN)/python -m bench run --database $(or $(DB),mariadb)
ifneq ($(DB),sqlite)
	$(BIN)/python -m bench deployed --reference --database $(or $(DB),mariadb)
endif

bench-quick: .venv/.installed .venv-reference/.installed ## the main ratios, briefly, held to a quarter of their goals
	$(BIN)/python -m bench run --quick --database $(or $(DB),mariadb)

lint: .venv/.installed ## style, format, layers, changelog
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	PYTHONPATH=as-placement/src $(BIN)/lint-imports --config as-placement/pyproject.toml
	$(BIN)/towncrier build --draft --version check > /dev/null

format: .venv/.installed ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: .venv/.installed ## mypy, strict
	$(BIN)/mypy
	$(BIN)/mypy --config-file as-placement/pyproject.toml

docs: .venv/.installed ## write the pages that are generated from the code
	$(BIN)/python -m tests.docs.versions
	$(BIN)/python -m tests.docs.commands
	$(BIN)/python -m tests.docs.modules
	$(BIN)/python -m tests.docs.samples
	$(BIN)/python -m tests.docs.openapi_examples
	$(BIN)/python -m tests.docs.api_reference
	$(BIN)/python -m tests.docs.v1_reference

site: .venv-site/.installed ## the documentation as a site, in build/site; broken links are errors
	$(SITE)/sphinx-build -q -E -W --keep-going -c docs/site . build/site
	@echo "Open build/site/index.html"

lock: .venv/.installed ## write the lock files again (UPGRADE=--upgrade for the newest versions)
	$(COMPILE) $(UPGRADE) --extra mysql --extra postgresql --output-file requirements-run.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --constraint requirements-run.lock --extra dev --extra bench --output-file requirements.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra reference --output-file requirements-reference.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra cloud --output-file requirements-cloud.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra nova --output-file requirements-nova.lock pyproject.toml
	$(COMPILE) $(UPGRADE) --extra site --output-file requirements-site.lock pyproject.toml

clean: ## remove what the other targets made, the database under ./var included
	rm -rf .venv .venv-reference .venv-cloud .venv-nova .venv-node .venv-site console/node_modules src/plimsoll/console_static var build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The service runs without the console, so a build that fails stops nothing. The script compares the sources itself.
.PHONY: .console
.console: .venv/.serving
	@$(BIN)/python console/build.py --optional

# A stamp is written when an environment is complete, so an interrupted installation starts again.
# .venv first gets what serving needs; the tools of development are added when a target needs them. The lock is complete,
# so pip need not look at dependencies, which takes a quarter of the time.
.venv/.serving: requirements-run.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-run.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv/.installed: requirements.lock .venv/.serving
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

.venv-reference/.installed: requirements-reference.lock pyproject.toml
	test -x $(REFERENCE)/python || $(PYTHON) -m venv .venv-reference
	$(REFERENCE)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-reference.lock
	$(REFERENCE)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv-cloud/.installed: requirements-cloud.lock pyproject.toml
	test -x $(CLOUD)/python || $(PYTHON) -m venv .venv-cloud
	$(CLOUD)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-cloud.lock
	$(CLOUD)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv-nova/.installed: requirements-nova.lock
	test -x $(NOVA)/python || $(PYTHON) -m venv .venv-nova
	$(NOVA)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-nova.lock
	@touch $@

.venv-site/.installed: requirements-site.lock
	test -x $(SITE)/python || $(PYTHON) -m venv .venv-site
	$(SITE)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-site.lock
	@touch $@
