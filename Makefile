# Works on this checkout only: everything made lands in .venv and var.

HOST ?= 127.0.0.1
PORT ?= 8000

BIN := .venv/bin

# Settings of the caller's shell that would shadow the packages in .venv, or have each of the
# many processes of the tests compile everything anew.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

COMPILE := .lock-tools/bin/uv pip compile --no-config --quiet --upgrade --universal \
	--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

PEER := bench/peers/django_helpdesk
GENERATED := tests/generated_clients

define step
	@printf '\n=== %s\n' '$(1)'
	@$(BIN)/$(1)
endef

.DEFAULT_GOAL := help
.PHONY: help run test types tests test-servers docs prove mutants bench pictures format lock clean setup-run setup-dev

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: export SEALDESK_DATA_DIR ?= $(CURDIR)/var
run: setup-run ## fill var with demo data, then serve it at http://HOST:PORT
	@$(BIN)/python -m docs_builder --if-changed
	@$(BIN)/sealdesk demo --host '$(HOST)' --port '$(PORT)'
	@exec $(BIN)/sealdesk serve --host '$(HOST)' --port '$(PORT)'

test: setup-dev ## format, lint, types, layers, tests
	@$(MAKE) --no-print-directory test-servers || :
	$(call step,ruff format --check)
	$(call step,ruff check)
	@$(BIN)/pytest --collect-only -n0 -qq >/dev/null 2>&1 & # compiles the tests meanwhile
	$(call step,lint-imports)
	@$(BIN)/python -m tests.sizes
	@$(MAKE) --no-print-directory -j2 types tests # the types of a fresh clone take a minute

types:
	$(call step,mypy)

tests:
	$(call step,pytest)

test-servers: setup-dev ## install the Debian packages that tests need, where that is allowed
	@$(BIN)/python -m tests.servers

docs: setup-dev ## build the documentation of /docs, and check its links
	@$(BIN)/python -m docs_builder

prove: setup-dev ## the long tests and resilience scenarios, from where they were stopped; QUICK=1: a tenth
	@$(BIN)/python -m tests.prove $(if $(QUICK),--quick)

mutants: setup-dev ## mutation testing, for hours: goes on where it was stopped
	@$(BIN)/python -m tests.mutants

bench: setup-dev ## measure the service, from where it was stopped; QUICK=1: less data
	@$(BIN)/python -m bench $(if $(QUICK),--quick)

pictures: setup-dev ## take the pictures of the pages in docs/screenshots anew, in a minute
	@$(BIN)/python -m tests.browser

format: setup-dev ## format the code and make the safe lint fixes
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

lock: ## resolve the newest packages again; rewrite the locks and deploy/sbom.cdx.json
	@python3 -m venv --clear .lock-tools
	@.lock-tools/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-tools.lock
	@$(COMPILE) --output-file requirements-tools.lock requirements-tools.in
	@$(COMPILE) --output-file requirements.lock --extra server pyproject.toml
	@$(COMPILE) --output-file requirements-bucket.lock --extra bucket --constraint requirements.lock pyproject.toml
	@$(COMPILE) --output-file requirements-dev.lock --extra dev --constraint requirements.lock pyproject.toml
	@$(COMPILE) --output-file $(PEER)/requirements.lock $(PEER)/requirements.in
	@$(COMPILE) --no-emit-package ruff --output-file $(GENERATED)/requirements.lock $(GENERATED)/requirements.in
	@python3 -m venv --without-pip .lock-tools/server
	@.lock-tools/bin/pip --python .lock-tools/server/bin/python install --quiet --no-deps --require-hashes -r requirements-bucket.lock
	@.lock-tools/bin/cyclonedx-py environment --output-reproducible .lock-tools/server/bin/python | python3 scripts/trim-sbom.py >deploy/sbom.cdx.json
	@rm -rf .lock-tools

clean: ## remove everything made, but keep the data in var
	@rm -rf .venv .lock-tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist mutants
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-run:
	@scripts/setup.sh run

setup-dev:
	@scripts/setup.sh dev
