# make book   build the book: installs, fetches the data, runs every notebook, writes _build/html
# make test   the whole test suite
# make help   everything else

PYTHON ?= python3
CORES  ?= all
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PYTHONHASHSEED := 0
export PYTHONWARNINGS := ignore::DeprecationWarning

# --nolock: a build killed with -9 must not block the next one. Every output is written under
# another name and renamed, so two builds at once waste time but never mix.
SNAKEMAKE := $(BIN)/snakemake --snakefile workflow/Snakefile --cores $(CORES) \
             --quiet rules host reason --nolock --rerun-incomplete

.PHONY: book test lint bench clean help
.DEFAULT_GOAL := help

book: $(READY) ## build the book
	@$(SNAKEMAKE) book
	@echo "The book is at _build/html/index.html"

# a thread for each test worker
test: export OMP_NUM_THREADS := 1
test: $(READY) lint ## run the whole test suite
	@$(BIN)/python -m pytest -n auto --dist loadfile
	@$(SNAKEMAKE) notebooks --configfile workflow/smoke.yaml
	@FOCAL_RUNS=_build/smoke/runs $(BIN)/python -m pytest -n auto --dist loadfile --nbval-lax --nbval-current-env -p no:cacheprovider _build/smoke/notebooks

lint: $(READY) ## format check, lint and types
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q . && $(BIN)/mypy --no-error-summary

bench: $(VENV)/ready-bench ## speed, as ratios, other libraries among them
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.libraries

$(VENV)/ready-bench: $(READY) benchmarks/requirements.lock
	@$(BIN)/python -m pip install -qq -r benchmarks/requirements.lock
	@touch $@

clean: ## remove what was built (the environment and fetched data stay)
	rm -rf _build .snakemake

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else f"Python 3.11 to 3.13 is needed. Got {v.major}.{v.minor}: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned packages into $(VENV) (about 6 GB with PyTorch, a few minutes) ..."
	@$(BIN)/python -m pip install -qq -r requirements.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@
