# Each target sets up what it needs in .venv; nothing has to be installed before but Python 3.11.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export OMP_NUM_THREADS := 1

.PHONY: demo test slow lint docs benchmarks speed papers papers-quick clean

demo: .venv/.demo
	$(BIN)/fireassay demo

test: .venv/.dev
	$(BIN)/python -m pytest -m "not slow" -n 2

slow: .venv/.dev
	$(BIN)/python -m pytest -m slow -n 2

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

benchmarks: .venv/.dev
	$(BIN)/python benchmarks/all.py

speed: .venv/.dev
	$(BIN)/python benchmarks/speed.py
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
	rm -rf .venv .venv-base .sample site .mypy_cache .ruff_cache .pytest_cache .hypothesis
