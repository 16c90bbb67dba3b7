# make book   build the book: installs, fetches the data, runs every notebook, writes _build/html
# make test   the test suite, but for slow tests
# make help   everything else

PYTHON ?= python3
CORES  ?= all
VENV   := .venv
READY  := $(VENV)/ready

# An activated environment that holds all it takes is used as it is, unless a PYTHON is asked for.
ifeq ($(origin PYTHON),file)
ACTIVE := $(filter-out $(CURDIR)/.venv,$(or $(VIRTUAL_ENV),$(CONDA_PREFIX)))
ifneq ($(and $(ACTIVE),$(filter-out help clean,$(MAKECMDGOALS))),)
ifeq ($(shell test -x $(ACTIVE)/bin/python && $(ACTIVE)/bin/python workflow/environment.py && echo serves),serves)
VENV  := $(ACTIVE)
READY :=
endif
endif
endif

BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
export PYTHONHASHSEED := 0
export PYTHONWARNINGS := ignore::DeprecationWarning
unexport PYTHONDONTWRITEBYTECODE # set in many containers: hundreds of processes would compile the same modules

# --nolock: a build killed with -9 must not block the next one. workflow.one_build makes a second one wait.
SNAKEMAKE := PYTHONPATH=$(CURDIR)/workflow/plugins $(BIN)/python -m workflow.one_build \
             $(BIN)/python -m workflow.call_snakemake --snakefile workflow/Snakefile \
             --cores $(CORES) --logger=focal --nolock --rerun-incomplete

LINT := $(BIN)/ruff format --check -q . && $(BIN)/ruff check -q . && $(BIN)/mypy --no-error-summary && \
        { floors=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$floors"; false; }; } && \
        for hook in citation container workflows; do $(BIN)/pre-commit run --all-files $$hook || exit; done

.PHONY: book pdf test browser lint mutants bench proofs article clean help
.DEFAULT_GOAL := help

book: $(READY) ## build the book
	@$(SNAKEMAKE) book
	@echo "The book is at _build/html/index.html"

pdf: book ## the whole book as one PDF with bookmarks, _build/focal.pdf, printed by Chromium
	@$(BIN)/python -m workflow.pdf

# one thread for each test worker, and more workers than cores, as many tests wait for processes; nbval runs again the
# notebooks with outputs that must be the same every time, but for those with cells tagged slow; slow pages, of which
# workflow/smoke.yaml has the names, wait for SLOW=1 as slow tests do; lint, with the installing of its tools, goes on
# meanwhile
test: export OMP_NUM_THREADS := 1
test: WORKERS = $(shell $(BIN)/python -c 'import os; print(3 * os.cpu_count() // 2)')
test: $(READY) ## all tests but the slow ones, which SLOW=1 adds; what lint finds is told and fails nothing
	@mkdir -p _build; { $(LINT); } > _build/lint.txt 2>&1 & linting=$$!; trap "kill $$linting; exit 1" INT TERM; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(if $(SLOW),,-m "not slow") && \
	$(SNAKEMAKE) notebooks --configfile workflow/smoke.yaml $(if $(SLOW),--config leave_out=) && \
	again=$$(for page in $$(cd notebooks && grep -l nbval-check-output *.py $(if $(SLOW),,| xargs grep -L 'tags=.*"slow"') | sed 's/py$$/ipynb/'); do \
	ls -t _build/smoke/notebooks/$$page _build/notebooks/$$page 2>/dev/null | head -n 1 | grep . || \
	{ echo "$$page is to be run again, and is in neither _build/smoke/notebooks nor _build/notebooks." >&2; exit 1; }; done) && \
	FOCAL_RUNS=_build/smoke/runs $(BIN)/python -m pytest -n auto --dist loadfile -p workflow.nbval_sockets --nbval-lax \
	--nbval-current-env -p no:cacheprovider $$again || { kill $$linting 2>/dev/null; exit 1; }; \
	wait $$linting || { cat _build/lint.txt; echo "The tests passed. What is above is for make lint."; }

browser: book ## every page of the built book in Chromium: widths, colours, formulas, links, accessibility
	@$(BIN)/python -m workflow.browser

lint: $(READY) ## format, rules, types, the floors of focal_lib, what is not Python
	@$(LINT)

proofs: ## compile the Coq proofs, check them again with coqchk, list the axioms that each file rests on
	@$(PYTHON) workflow/proofs.py

article: $(READY) ## the article of four pages on what reproduced and what did not, printed by Chromium
	@$(BIN)/python -m workflow.article

mutants: $(READY) ## change each formula of focal_lib/theory: do tests or claims notice? Hours; goes on where it was stopped
	@$(BIN)/python -m workflow.mutants $(if $(filter all,$(CORES)),,--jobs $(CORES))

SPEED := results/speed
bench: $(VENV)/ready-bench ## speed, as ratios, other libraries among them; LARGE=1 adds samples in a file, hours; RECORD=1 keeps what the book shows, of a quiet machine
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.libraries $(if $(RECORD),--out $(SPEED)/libraries.parquet)
	@$(BIN)/python -m benchmarks.busy $(if $(RECORD),--out $(SPEED)/busy.parquet)
	@$(BIN)/python -m benchmarks.ledger_page
	@$(BIN)/python -m benchmarks.warm
	@$(if $(LARGE),$(BIN)/python -m benchmarks.large $(if $(RECORD),--out $(SPEED)/large.parquet))
	@$(if $(RECORD),$(BIN)/python -m workflow.crate)

$(VENV)/ready-bench: $(READY) benchmarks/requirements.lock
	@$(BIN)/python workflow/install.py benchmarks/requirements.lock
	@touch $@

clean: ## remove what was built (the environment and fetched data stay)
	rm -rf _build .snakemake

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else f"Python 3.11 to 3.13 is needed. Got {v.major}.{v.minor}: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned packages into $(VENV) (about 6 GB with PyTorch, one to four minutes) ..."
	@$(BIN)/python workflow/install.py requirements.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@
