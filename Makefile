# Every target sets up what it needs in .venv and does not install twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

.PHONY: help install demo space reproduce test test-slow bench data publish lint clean

help:  ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install: $(VENV)/report.installed  ## the metric, and evaluate.load("ecuas") by its bare name
	$(BIN)/python publish.py register

demo: $(VENV)/demo.installed  ## three classifiers, one table, three figures, under a minute
	$(BIN)/python -m examples.demo

space: $(VENV)/space.installed  ## the demo Space on http://127.0.0.1:7860
	$(BIN)/python -m space.app

reproduce: $(VENV)/demo.installed  ## the paper's table and figures from SCORES=<folder of its score files>
	$(BIN)/python -m examples.paper $(SCORES)

test: $(patsubst %,$(VENV)/%.installed,test $(EXTRAS))  ## all tests; those of a local model with EXTRAS=local
	$(BIN)/python -m pytest

test-slow: $(VENV)/test.installed  ## the simulations, minutes long
	$(BIN)/python -m pytest -m slow -s

bench: $(VENV)/bench.installed  ## measure against scikit-learn and torchmetrics, write the README's table
	$(BIN)/python -m benchmarks.run

data: $(VENV)/demo.installed  ## rebuild triviaqa_subset/data from its curation
	$(BIN)/python -m triviaqa_subset.build --without-text

.PHONY: reference
reference: $(VENV)/demo.installed  ## write docs/reference.md and the card's table of options
	$(BIN)/python -m docs.reference

publish: $(VENV)/test.installed  ## metric, dataset and demo to the Hub: NAMESPACE=<user or organisation>
	$(BIN)/python publish.py all --namespace $(NAMESPACE)

lint: $(VENV)/test.installed $(VENV)/lint.installed  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy ecuas_metric triviaqa_subset examples benchmarks publishing space publish.py

clean:  ## remove what was installed and made
	rm -rf $(VENV) demo *.egg-info

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# One stamp an extra: `make test` after `make demo` installs only what is missing.
$(VENV)/%.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@
