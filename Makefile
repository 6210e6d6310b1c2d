# Two commands do all the set-up on a fresh machine with Python 3.11 or later:
#   make learn   install, run the main job on two bundled tables, a class and a number, print where the reports are
#   make test    install with the test extras, then lint, types, every method and every promise: the first tier of tests
# make test-all runs the second tier: all variants, the dear tests, the wheel; make test-times records what each test takes;
# make test-base tries the wheel in an environment of its own that has no extra;
# make test-proofs proves saved models where there is no more than NumPy, SciPy and safetensors;
# make attack changes fitted models and lists what verify lets pass; make false-alarms lists its alarms on right answers;
# make test-gpu runs the tests of arrays on devices on a card, where there is one;
# make test-machines runs the numerical tests as other machines would; make bench [FAMILY=linear_model] prints the speed table;
# make test-oldest tests the families and the wheel with the lowest versions that pyproject.toml allows;
# make release lays a tested wheel and the source into dist/;
# make docs builds the site into build/site, running every block of code in it; make docs-links asks for the addresses outside of it;
# make gallery exports the pages of docs/gallery.md into build/gallery;
# make method NAME=cluster/mean_shift lays the files of a new method.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := .venv-base
PROOFS := .venv-proofs
OLDEST := .venv-oldest
INSTALL := -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
FAMILY ?=
# What can be tested without PyTorch and the other tools of the extra dev.
OLDEST_TESTS := cluster cross_decomposition decomposition discriminant_analysis ensemble feature_selection kernel_ridge \
	kernels linear_model losses manifold mixture neighbors probability proofs ranking solvers

.PHONY: learn test test-all test-times test-base test-proofs test-gpu test-oldest test-machines release attack false-alarms bench docs docs-links gallery method clean

learn: $(VENV)/.base
	@echo "Two tables, ten seconds each; the first time some of them go into compiling loops."
	$(BIN)/pellucid fit src/pellucid/data/breast_cancer.csv --target diagnosis --time 10s --out learned/breast_cancer
	$(BIN)/pellucid fit src/pellucid/data/diabetes.csv --target progression --time 10s --out learned/diabetes

test: $(VENV)/.dev
	$(BIN)/python -m tests.tiers first

test-all: $(VENV)/.dev
	$(BIN)/python -m tests.tiers second
	$(BIN)/python -m tests.machines --quick
	$(MAKE) test-base test-proofs

test-times: $(VENV)/.dev
	$(BIN)/python -m tests.tiers times

test-base: $(BASE)/.wheel
	$(BASE)/bin/python -m tools.try_base

test-proofs: $(BASE)/.wheel $(PROOFS)/.bare
	$(BASE)/bin/python -m tools.try_proofs $(PROOFS)/bin/python

test-gpu: $(VENV)/.dev
	PELLUCID_DEVICE=cuda $(BIN)/python -m pytest tests/core/device -rs

test-oldest: $(OLDEST)/.lowest
	$(OLDEST)/bin/python -m tools.try_base
	$(OLDEST)/bin/python -m pytest -n auto $(addprefix tests/,$(OLDEST_TESTS))

test-machines: $(VENV)/.dev
	$(BIN)/python -m tests.machines

attack: $(VENV)/.dev
	$(BIN)/python -m tests.attack

false-alarms: $(VENV)/.dev
	$(BIN)/python -m tests.false_alarms

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(FAMILY)

release: $(VENV)/.dev test-base
	rm -rf dist
	$(BIN)/python $(INSTALL) build twine
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m tools.try_distributions dist

SPHINX := -m sphinx -n -W --keep-going -d build/doctrees

docs: $(VENV)/.docs
	$(BIN)/python $(SPHINX) -b html docs build/site
	@echo "Open build/site/index.html in a browser."

# Needs a network, and other people's machines to answer: so it is no part of docs, which checks all links inside of the site.
docs-links: $(VENV)/.docs
	$(BIN)/python $(SPHINX) -b linkcheck docs build/links

gallery: $(VENV)/.base
	$(BIN)/python -m pellucid.app.playing.gallery build/gallery
	@echo "Open build/gallery/index.html in a browser."

method: $(VENV)/.dev
	$(BIN)/python -m tools.new_method $(NAME) $(CLASS)

clean:
	rm -rf $(VENV) $(BASE) $(PROOFS) $(OLDEST) dist learned

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per extra: nothing is installed again until what it depends on changes.
$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Pellucid and what it stands on into $(VENV): about a minute."
	$(BIN)/python $(INSTALL) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing the test tools, PyTorch among them, into $(VENV): a few minutes."
	$(BIN)/python $(INSTALL) --editable ".[dev]"
	touch $@

# The pages fit every method, so they need what the tests need.
$(VENV)/.docs: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing the test tools and Sphinx into $(VENV): a few minutes."
	$(BIN)/python $(INSTALL) --editable ".[dev,docs]"
	touch $@

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) --editable ".[bench]"
	touch $@

# The wheel as a user gets it, without any extra; made anew when the source has changed.
$(BASE)/.wheel: pyproject.toml constraints.txt $(shell find src/pellucid -name "*.py" -o -name "*.toml" -o -name "*.js" -o -name "*.css" -o -name "*.html" -o -name "*.cu")
	@echo "Installing the wheel, without any extra, into $(BASE): about a minute."
	test -x $(BASE)/bin/python || $(PYTHON) -m venv $(BASE)
	$(BASE)/bin/python $(INSTALL) .
	$(BASE)/bin/python $(INSTALL) --force-reinstall --no-deps .
	touch $@

# No more than what the trusted base stands on.
$(PROOFS)/.bare: $(BASE)/.wheel
	test -x $(PROOFS)/bin/python || $(PYTHON) -m venv $(PROOFS)
	$(PROOFS)/bin/python $(INSTALL) numpy scipy safetensors
	$(PROOFS)/bin/python $(INSTALL) --force-reinstall --no-deps .
	touch $@

# The lowest versions of what the wheel stands on, and the newest of what only tests need.
$(OLDEST)/.lowest: $(BASE)/.wheel tools/lowest_versions.py
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(INSTALL) packaging
	$(OLDEST)/bin/python -m tools.lowest_versions > $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install --constraint $(OLDEST)/lowest.txt . \
		pytest==9.2.0 pytest-xdist hypothesis polars
	$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install --force-reinstall --no-deps .
	touch $@
