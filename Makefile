# Two commands do everything on a fresh machine with Python 3.11 or newer: `make run` and `make test`.
# An unfinished environment is built again. Another Python: `make run PYTHON=python3.12`. torch from another index, such as
# the CPU builds, which are smaller: `make test TORCH_INDEX=https://download.pytorch.org/whl/cpu`.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test pytest lint format coverage bench docs hooks clean

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
endif
# Python compiles what is imported; compiling all that is installed would take a minute more.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
PYTEST := .venv-dev/bin/python -m pytest -n 2 --dist loadgroup --durations 10 --durations-min 5

# An environment without its mark was never finished: it starts again from nothing.
define make-venv
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
		echo "riseq needs Python 3.11 or newer, found '$$("$(or $(PYTHON),python3)" --version 2>&1)'; \
	name one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Making $(@D), once: this takes a while" >&2
	@test -f $@ || "$(PYTHON)" -m venv --clear $(@D)
endef

help:  ## List the commands (this is what plain `make` does)
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/make \1\t\2/p' Makefile | expand -t 15

.venv/ready: pyproject.toml
	$(make-venv)
	@$(@D)/bin/python $(PIP_INSTALL) --editable .
	@touch $@

.venv-dev/ready: pyproject.toml
	$(make-venv)
	@$(@D)/bin/python $(PIP_INSTALL) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==2.13.0
	@$(@D)/bin/python $(PIP_INSTALL) --editable '.[dev]'
	@touch $@

run: .venv/ready  ## Print the conversational question for each example dialogue
	@.venv/bin/riseq simplify examples/dialogues.jsonl --show-edits

# Side by side: the linters have one core's work, and tests wait now and then.
test: .venv-dev/ready  ## Run ruff, mypy --strict, import-linter and every test
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

pytest: .venv-dev/ready  ## Run every test alone
	$(PYTEST)

lint: .venv-dev/ready  ## Run ruff, mypy --strict and import-linter alone
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/lint-imports

format: .venv-dev/ready  ## Format the code and fix what ruff can fix
	.venv-dev/bin/ruff check --fix .
	.venv-dev/bin/ruff format .

# Apart from `make test`: counting lines makes the tests about half as slow again.
coverage: .venv-dev/ready  ## Run every test and print which lines of src/ they reach
	$(PYTEST) --cov

bench: .venv-dev/ready  ## Measure the speed of the core and of the engine (benchmarks/ has the others)
	.venv-dev/bin/python benchmarks/bench_core.py
	.venv-dev/bin/python benchmarks/bench_engine.py

docs: .venv-dev/ready  ## Build the documentation in site/
	NO_MKDOCS_2_WARNING=1 .venv-dev/bin/mkdocs build --strict

hooks: .venv-dev/ready  ## Install the pre-commit hooks: ruff, mypy and import-linter before every commit
	@.venv-dev/bin/python $(PIP_INSTALL) 'pre-commit>=4'
	.venv-dev/bin/pre-commit install

clean:  ## Remove the virtual environments, caches and built files
	rm -rf .venv .venv-dev site dist .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
