# Every target sets up what it needs in .venv and does not install twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-dev.txt
CORE := -m "not e2e and not slow and not long"
# The tests of ONLY, a folder or a module: those that mirror it, and its own examples.
MIRROR = $(wildcard $(foreach root,tests/ecuas_metric tests ecuas_metric .,$(root)/$(ONLY) $(root)/$(ONLY).py $(root)/test_$(ONLY).py))
EVERY_EXTRA := $(addprefix --extra ,test frames lint lock bench croissant docs local spark)
# The tests of a file stay in one process, since they share what it starts.
PARALLEL ?= --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 10
# uv installs no bytecode: Python keeps what it makes at the first import, or each process compiles the libraries again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help

.PHONY: help install docs demo space reproduce check test test-slow test-integrations nightly latex check-lowest check-croissant \
	bench reference publish format lint hooks lock clean

help:  ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 19

install: $(VENV)/report.installed  ## the metric, and evaluate.load("ecuas") by its bare name
	$(BIN)/python publish.py register

demo: $(VENV)/demo.installed  ## four classifiers, one table, three figures, under a minute
	$(BIN)/python -m examples.demo

space: $(VENV)/space.installed  ## the demo Space on http://127.0.0.1:7860
	$(BIN)/python -m space.app

reproduce: $(VENV)/demo.installed  ## the paper's table and figures from SCORES=<folder of its score files>
	$(BIN)/python -m examples.paper $(SCORES)

check: $(VENV)/test.installed  ## the quick tests of functions, in a minute; those of a folder or a module in seconds with ONLY=files
	$(BIN)/python -m pytest $(CORE) $(if $(ONLY),$(or $(MIRROR),$(error there are no tests of ONLY=$(ONLY))),$(PARALLEL))

test: $(patsubst %,$(VENV)/%.installed,test $(EXTRAS))  ## all tests, in a few minutes; those of a local model, Spark and torchmetrics with EXTRAS="local spark torchmetrics"
	$(BIN)/python -m pytest $(PARALLEL) $(FLAGS)

test-slow: $(VENV)/test.installed  ## the simulations, and each law on many more examples, minutes long
	$(BIN)/python -m pytest -m slow -s
	$(BIN)/python -m pytest -m "hypothesis and not e2e" --hypothesis-profile thorough $(PARALLEL)

test-integrations: $(VENV)/test.installed $(patsubst %,.venv-integrations/%.installed,lm-eval lighteval lightning uqlm lm-polygraph deepeval promptfoo decisions every-eval-ever ecuas)  ## the tools that leave runs, live, an hour with their installation
	$(BIN)/python -m pytest -m integrations tests/ecuas_metric/integrations tests/publishing

nightly: latex $(VENV)/spark.installed $(VENV)/frames.installed test-slow test-integrations check-croissant test-3.12 test-3.13  ## what is too long for every change: the simulations, Spark Connect, the tools, other Pythons, Ibis, LaTeX, the other targets
	$(BIN)/python -m pytest -k "ibis or compiles" tests/ecuas_metric/scale tests/ecuas_metric/reporting
	$(BIN)/python -m tests.commands "make "

latex:
	@command -v pdflatex || { echo "make nightly needs pdflatex, as of texlive-latex-extra" >&2; exit 1; }

# Another Python, by this name or as pyenv has it, in an environment of its own.
test-3.%:
	PYENV_VERSION=3.$* $(MAKE) VENV=.venv-3.$* PYTHON=python3.$* test

check-lowest: $(VENV)/lock.installed  ## the core tests at the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear --without-pip .venv-lowest
	$(UV) --python .venv-lowest --resolution lowest-direct --editable '.[test]'
	.venv-lowest/bin/python -m pytest $(CORE) $(PARALLEL)

check-croissant: $(VENV)/lock.installed  ## the dataset's Croissant description by the format's own checker
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-croissant
	$(UV) --python .venv-croissant --constraint $(LOCK) --editable '.[croissant]'
	.venv-croissant/bin/python -c "import mlcroissant"
	.venv-croissant/bin/python -m pytest tests/triviaqa_subset/test_croissant.py

bench: $(VENV)/bench.installed  ## measure against peers, write the table of docs/speed.md
	$(BIN)/python -m benchmarks.run

reference: $(VENV)/demo.installed $(VENV)/scale.installed  ## write what pages show of the code: tables, results, what commands print, pictures
	$(BIN)/python -m docs.blocks

docs: $(VENV)/docs.installed  ## the site in build/site: warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
	@echo "build/site/index.html"

publish: $(VENV)/space.installed  ## metric, dataset and demo to the Hub: NAMESPACE=<user or organisation>, FLAGS=--dry-run to list what would go
	$(BIN)/python publish.py all --namespace $(NAMESPACE) $(FLAGS)

format: $(VENV)/lint.installed  ## let ruff format the code and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: $(VENV)/test.installed $(VENV)/lint.installed  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

hooks: $(VENV)/lint.installed  ## run what is quick of `make lint` at every commit
	$(BIN)/pre-commit install

# Asking language models: an environment of its own, by uv, since Inspect does not fit beside Gradio.
ASKING := .venv-elicitation
$(ASKING)/%.installed: pyproject.toml requirements-elicitation.txt | $(VENV)/lock.installed
	test -x $(ASKING)/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(ASKING)
	$(UV) --python $(ASKING) --constraint requirements-elicitation.txt --editable '.[$*]'
	touch $@

.PHONY: ask test-elicitation lock-elicitation
ask: $(ASKING)/elicitation.installed  ## a made-up model asked with Inspect: its answers and confidences, scored
	$(ASKING)/bin/python -m examples.ask

test-elicitation: $(ASKING)/test-elicitation.installed  ## the tests of asking language models, with Inspect over loopback
	$(ASKING)/bin/python -m pytest $(PARALLEL) tests/triviaqa_subset/elicitation triviaqa_subset/elicitation

lock-elicitation: $(VENV)/lock.installed  ## renew requirements-elicitation.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra test-elicitation \
		--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock-elicitation" \
		pyproject.toml --output-file requirements-elicitation.txt

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	--no-annotate --custom-compile-command "make lock"
lock: $(VENV)/lock.installed  ## renew requirements-dev.txt, the versions that every target installs, and those of both Spaces
	$(COMPILE) --upgrade $(EVERY_EXTRA) pyproject.toml --output-file $(LOCK)
	$(COMPILE) --constraint $(LOCK) ecuas_metric/requirements.txt --output-file publishing/metric.txt
	$(COMPILE) --constraint $(LOCK) space/requirements.txt --output-file publishing/space.txt

clean:  ## remove what was installed and made
	rm -rf $(VENV) .venv-* build demo docs/generated *.egg-info .coverage* .*_cache .hypothesis

# uv installs many times as fast as pip. Where the index has no uv for this machine, or uv does not get there, pip does it.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV = $(BIN)/uv pip install --quiet $(addprefix --find-links ,$(FIND_LINKS)) $(addprefix --default-index ,$(INDEX))
# uv does not read pip's configuration, and has certificates of its own: those of the system are trusted too, as by pip.
export UV_SYSTEM_CERTS ?= true
FIND_LINKS = $(or $(PIP_FIND_LINKS),$(shell $(BIN)/python -m pip config get global.find-links 2>/dev/null))
INDEX = $(or $(PIP_INDEX_URL),$(shell $(BIN)/python -m pip config get global.index-url 2>/dev/null))

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	-$(PIP) --constraint $(LOCK) --only-binary uv uv

# One stamp per extra: `make test` after `make demo` installs only what is missing.
$(VENV)/%.installed: pyproject.toml $(LOCK) | $(BIN)/python
	$(UV) --python $(BIN)/python --constraint $(LOCK) --editable '.[$*]' || $(PIP) --constraint $(LOCK) --editable '.[$*]'
	touch $@

# Each tool in an environment of its own: they do not fit one together. lighteval 0.13 does not run with newer ones.
.venv-integrations/lm-eval.installed: PACKAGES := "lm-eval>=0.4.13,<0.5" torch
.venv-integrations/lighteval.installed: PACKAGES := "lighteval==0.13.0" "huggingface_hub<2" "xxhash<4"
.venv-integrations/lightning.installed: PACKAGES := "lightning>=2.5,<3" torchmetrics pandas pyarrow scipy
.venv-integrations/uqlm.installed: PACKAGES := "uqlm>=0.6.7,<0.7" "pyarrow<22"
.venv-integrations/lm-polygraph.installed: PACKAGES := "lm-polygraph>=0.7,<0.8"
.venv-integrations/deepeval.installed: PACKAGES := "deepeval>=4.3.1,<5"
.venv-integrations/decisions.installed: PACKAGES := "openai>=3.57,<4" "typesafe-sdk>=0.7.5,<0.8" "langchain-openai>=1.7.4,<2"
.venv-integrations/every-eval-ever.installed: PACKAGES := "every-eval-ever==0.3.0"
.venv-integrations/every-eval-ever.installed: OF := 3.12
# the authors' package, and this one beside it
.venv-integrations/ecuas.installed: PACKAGES := "ecuas==0.1.5" --editable .
.venv-integrations/ecuas.installed: OF := 3.13
.venv-integrations/%.installed: | $(VENV)/lock.installed
	$(if $(OF),PYENV_VERSION=$(OF)) $(BIN)/uv venv --quiet --clear --python $(if $(OF),python$(OF),$(BIN)/python) .venv-integrations/$*
	$(UV) --python .venv-integrations/$* $(PACKAGES)
	$(if $(WITHOUT),$(BIN)/uv pip uninstall --quiet --python .venv-integrations/$* $(WITHOUT))
	touch $@

.venv-integrations/promptfoo.installed:
	npm install --silent --no-audit --no-fund --prefix $(basename $@) promptfoo@0.121
	touch $@
