# make run     open the window                     make check   formatter, linter, types, and quick tests
# make test    all tests except the slow ones      make slow    the slow tests
# make bench   measure speed (ARGS="ticks --csv out.csv")
# make wheel   build packages in dist/: source, pure Python, and one with compiled kernels for this Python and system
# make hook    run `make check` before every commit, and check the subject of the commit message
# make setup   install everything that development needs, and do nothing else
#
# Each target first installs the pinned Python packages that it needs into .venv and shows its progress.
# Requires Python 3.11 or later with venv. PYTHON=python3.13 chooses another Python.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
ARGS ?=
FOLDERS := main.py sim files experiments agents ui cli benchmarks tools tests packaging

# Let Python cache its bytecode even if the environment forbids it: the tests start 200 programs of 300 files each.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check slow mutants bench readme shots thumbs setup clean wheel hook
.DEFAULT_GOAL := run

run: $(VENV)/.run-ready
	$(BIN)/python main.py $(ARGS)

bench: $(VENV)/.run-ready
	$(BIN)/python -m benchmarks $(ARGS)

check: $(VENV)/.dev-ready
	$(BIN)/ruff format --check $(FOLDERS)
	$(BIN)/ruff check $(FOLDERS)
	$(BIN)/mypy
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/test_layers.py tests/test_rooms.py tests/test_readme.py tests/test_params.py tests/test_mutants.py

test: $(VENV)/.dev-ready
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" $(ARGS)

shots: $(VENV)/.run-ready
	$(BIN)/python -m tools.shots
	rm -f docs/shots/lazy-eager.gif
	$(BIN)/python main.py record assets/scenarios/bridges.yaml -o docs/shots/lazy-eager.gif --size 900x520 --fps 20 --captions

thumbs: $(VENV)/.run-ready
	$(BIN)/python -m tools.thumbs

readme: $(VENV)/.run-ready
	$(BIN)/python -m tools.readme

slow: $(VENV)/.dev-ready
	$(BIN)/python -m pytest -q -m slow $(ARGS)

mutants: $(VENV)/.dev-ready
	$(BIN)/python -m tests.mutants $(ARGS)

wheel: $(VENV)/.dev-ready
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	BACKMOVE_KERNELS="$$($(BIN)/python packaging/compile.py build)" $(BIN)/python -m hatchling build -t wheel -d dist

hook:
	git config core.hooksPath .hooks

setup: $(VENV)/.dev-ready

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Stamp files: touched after an installation, so that make installs again when the requirements are newer.
$(VENV)/.run-ready: requirements.txt | $(BIN)/python
	@$(BIN)/python packaging/install.py requirements.txt
	@touch $@

$(VENV)/.dev-ready: requirements-dev.txt requirements.txt | $(BIN)/python
	@$(BIN)/python packaging/install.py requirements-dev.txt
	@touch $@ $(VENV)/.run-ready

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Backmove needs Python 3.11 or later; $(PYTHON) is missing or older. Choose another one: make run PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "Could not create $(VENV). On Debian and Ubuntu, install python3-venv: apt install python3-venv" >&2; exit 1; }
