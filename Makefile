# make book   build the book: installs, runs every notebook, writes _build/html
# make test   the test suite, but for slow tests
# make help   everything else

PYTHON ?= python3
CORES  ?= all
# an environment of your own that holds all it takes, one of conda say: make VENV=$CONDA_PREFIX READY= book
VENV   := .venv
READY  := $(VENV)/ready

BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
export PYTHONHASHSEED := 0
export PYTHONWARNINGS := ignore::DeprecationWarning
unexport PYTHONDONTWRITEBYTECODE # set in many containers: hundreds of processes would compile the same modules

SNAKEMAKE := $(BIN)/python -m snakemake --quiet rules progress reason host --snakefile workflow/Snakefile \
             --cores $(CORES) --rerun-incomplete
UV := uv==0.13.9

# The packages of the lock file $2 into the environment $1, which is made anew where an installation was killed: by uv,
# in a third of pip's time; by pip where uv cannot. uv does not read pip's settings; they are handed on unseen.
define install
@test -x $1/bin/python -a ! -e $1/installing || $(PYTHON) -m venv --clear $1
@touch $1/installing; echo "Installing the packages of $2 into $1 ..."
@for set in UV_DEFAULT_INDEX=index-url UV_INDEX=extra-index-url UV_FIND_LINKS=find-links SSL_CERT_FILE=cert UV_HTTP_TIMEOUT=default-timeout; do \
	for level in :env: global; do value=$$($1/bin/python -m pip config get $$level.$${set#*=} 2>/dev/null) && export $${set%%=*}="$$value" && break; done; done; \
	{ $1/bin/python -m pip install -qq $(UV) && UV_INDEX_STRATEGY=unsafe-best-match $1/bin/uv pip install --quiet --no-config --no-deps --python $1/bin/python -r $2; } \
	|| { echo "uv could not: pip does, more slowly." >&2; $1/bin/python -m pip install -qq --no-deps -r $2; }
@rm $1/installing
endef

LINT := $(BIN)/ruff format --check -q . && $(BIN)/ruff check -q . && $(BIN)/mypy --no-error-summary && \
        { floors=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$floors"; false; }; } && \
        for hook in citation container workflows; do $(BIN)/pre-commit run --all-files $$hook || exit; done

.PHONY: book pdf test browser lint bench proofs article sbom dist unlock clean help
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

browser: book .venv-browser/ready ## every page of the built book in Chromium: widths, colours, formulas, links, accessibility
	@$(BIN)/python -m workflow.browser

lint: $(READY) ## format, rules, types, the floors of focal_lib, what is not Python
	@$(LINT)

proofs: ## compile the Coq proofs, check them again with coqchk, list the axioms that each file rests on
	@$(PYTHON) workflow/proofs.py

article: $(READY) ## the article on what reproduced and what did not, five pages, printed by Chromium
	@$(BIN)/python -m workflow.article

SPEED := results/speed
bench: $(VENV)/ready-bench ## speed, as ratios, other libraries among them; LARGE=1 adds samples in a file, hours; RECORD=1 keeps what the book shows, of a quiet machine
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.libraries $(if $(RECORD),--out $(SPEED)/libraries.parquet)
	@$(BIN)/python -m benchmarks.busy $(if $(RECORD),--out $(SPEED)/busy.parquet)
	@$(BIN)/python -m benchmarks.ledger_page
	@$(if $(LARGE),$(BIN)/python -m benchmarks.large $(if $(RECORD),--out $(SPEED)/large.parquet))
	@$(if $(RECORD),$(BIN)/python -m workflow.crate)

$(VENV)/ready-bench: $(READY) benchmarks/requirements.lock
	$(call install,$(VENV),benchmarks/requirements.lock)
	@touch $@

sbom: ## what requirements.lock installs as a CycloneDX bill of materials, _build/sbom.json
	@mkdir -p _build && $(PYTHON) -m venv _build/cyclonedx && _build/cyclonedx/bin/pip install -qq cyclonedx-bom==7.5.0
	@_build/cyclonedx/bin/cyclonedx-py requirements requirements.lock --output-reproducible -o _build/sbom.json

dist: ## the wheel and the source distribution, dist/, as PyPI wants them
	@rm -rf dist && mkdir -p _build && $(PYTHON) -m venv _build/packaging && _build/packaging/bin/pip install -qq build==1.6.1 twine==7.0.0
	@_build/packaging/bin/python -m build && _build/packaging/bin/twine check --strict dist/*

unlock: $(READY) ## after a build that was killed with -9: Snakemake's lock goes (not while another build runs)
	@$(SNAKEMAKE) --unlock book

clean: ## remove what was built (the environment and fetched data stay)
	rm -rf _build .snakemake

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else f"Python 3.11 to 3.13 is needed. Got {v.major}.{v.minor}: make PYTHON=python3.12 ...")'
	@echo "About 6 GB with PyTorch, one to four minutes."
	$(call install,.venv,requirements.lock)
	@.venv/bin/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

.venv-browser/ready: workflow/browser.lock
	$(call install,.venv-browser,$<)
	@touch $@
