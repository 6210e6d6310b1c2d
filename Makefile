# Two commands do all the set-up on a fresh machine with Python 3.11 or later:
#   make learn   install, compile, run the main job on two bundled tables, a class and a number, print where the reports are
#   make test    install with the test extras, then lint, types and all tests
# make attack changes fitted models and lists what verify lets pass; make false-alarms lists its alarms on right answers;
# make test-machines runs the numerical tests as other machines would; make bench [FAMILY=linear_model] prints the speed table;
# make method NAME=cluster/kmedoids lays the files of a new method.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
FAMILY ?=

.PHONY: learn test test-machines attack false-alarms bench method clean

learn: $(VENV)/.base
	$(BIN)/pellucid warm-up
	$(BIN)/pellucid fit src/pellucid/data/breast_cancer.csv --target diagnosis --time 30s --out learned/breast_cancer
	$(BIN)/pellucid fit src/pellucid/data/diabetes.csv --target progression --time 30s --out learned/diabetes

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto
	$(BIN)/python -m tests.machines --quick

test-machines: $(VENV)/.dev
	$(BIN)/python -m tests.machines

attack: $(VENV)/.dev
	$(BIN)/python -m tests.attack

false-alarms: $(VENV)/.dev
	$(BIN)/python -m tests.false_alarms

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(FAMILY)

method: $(VENV)/.dev
	$(BIN)/python -m tools.new_method $(NAME) $(CLASS)

clean:
	rm -rf $(VENV) learned

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per extra: nothing is installed again until what it depends on changes.
$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable ".[dev]"
	touch $@

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable ".[bench]"
	touch $@
