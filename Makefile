# Each target sets up what it needs in .venv; nothing has to be installed before but Python 3.11.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export OMP_NUM_THREADS := 1

.PHONY: demo test slow long lint docs wheel benchmarks speed papers papers-quick sbom fuzz adversary meter clean

demo: .venv/.demo
	$(BIN)/fireassay demo

test: .venv/.dev
	$(BIN)/python -m pytest -m "not slow" -n 2

slow: .venv/.dev
	$(BIN)/python -m pytest -m "slow and not long" -n 2 --durations=25

# Simulations, fuzzing and studies beyond what .ci/run has time for (about half an hour).
long: .venv/.dev
	$(BIN)/python -m pytest -m long -n 2 --timeout=1800

lint: .venv/.dev
	$(BIN)/ruff format --check src tests benchmarks examples studies
	$(BIN)/ruff check src tests benchmarks examples studies
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.dev .sample/report.html
	FIREASSAY_SAMPLE=.sample $(BIN)/mkdocs build --strict

# The sample report of the docs: the demo, made again when the code has changed.
.sample/report.html: .venv/.dev $(shell find src -name '*.py' -o -name '*.html' -o -name '*.css' -o -name '*.js')
	rm -rf .sample
	$(BIN)/fireassay demo --quiet --output .sample

# Built, installed into an environment of its own as users install it, and its demo run.
wheel:
	rm -rf dist
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "$$(ls dist/*.whl)[torch,interop]"
	cd dist && ../.venv-wheel/bin/fireassay demo --quiet --output demo && test -s demo/report.html

benchmarks: .venv/.dev
	$(BIN)/python benchmarks/all.py

speed: .venv/.dev
	$(BIN)/python benchmarks/speed.py

# 5,000 files by grammar for each reader that needs no trust (hours): each read, or refused in words.
fuzz: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python tests/faults/grammar.py 5000

# Rows received by a counting model or server, and rows reported, in RUNS random runs.
meter: .venv/.dev
	FIREASSAY_RUNS=$(or $(RUNS),1000) $(BIN)/python -m pytest -q -m slow tests/stories/test_rows_counted.py

# What an installation with all extras consists of, with licences (CycloneDX); the tool has a venv of its own.
sbom: .venv/.dev
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	.venv-sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o sbom.json $(BIN)/python

# The worlds in which bounds miss most: hours. What is found is kept in benchmarks/adversary/worst.json.
adversary: .venv/.dev
	$(BIN)/python benchmarks/adversary/search.py
	$(BIN)/python benchmarks/adversary/worst_table.py

# FIREASSAY_DATA must hold mnist, fashion-mnist, cifar10, nad, reasdl and deckard. Killed, it goes on.
PAPERS ?= papers-work
papers: .venv/.dev
	$(BIN)/python studies/all.py --work $(PAPERS) --workers 1

papers-quick: .venv/.dev
	$(BIN)/python studies/all.py --work $(PAPERS)-quick --quick

.venv/.python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"fireassay needs Python 3.11 or newer, {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.demo: .venv/.python pyproject.toml constraints.txt
	@echo "Installing fireassay into .venv (once, about a minute) …"
	$(PIP) -e '.[torch,interop]'
	@touch $@

.venv/.dev: .venv/.python pyproject.toml constraints.txt
	@echo "Installing fireassay and its test tools into .venv (once, about two minutes) …"
	$(PIP) -e '.[all,dev]'
	@touch $@ .venv/.demo

clean:
	rm -rf .venv .venv-base .venv-wheel .venv-sbom sbom.json dist .sample site .mypy_cache .ruff_cache .pytest_cache .hypothesis
