# make run     open the window            make check   format, lint, types, and the quick tests
# make test    all tests                  make bench   measure speed (ARGS="ticks --csv out.csv")
# make wheel   packages to install, into dist/: source, pure, and one with compiled kernels for this Python and system
# make hook    let git run `make check` before every commit, and check the subject of its message
#
# Each target sets up what it needs: Python packages in .venv, as the pinned requirements say.
# Needs python3 >= 3.11 with venv. PYTHON=python3.13 chooses another one.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
ARGS ?=
FOLDERS := main.py sim agents ui cli tests packaging

# Python keeps what it has translated, also where a sandbox says otherwise: tests start 200 programs of 300 files each.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check slow mutants bench readme shots thumbs setup clean wheel hook
.DEFAULT_GOAL := run

run: $(VENV)/.run-ready
	$(BIN)/python main.py $(ARGS)

bench: $(VENV)/.run-ready
	$(BIN)/python main.py bench $(ARGS)

check: $(VENV)/.dev-ready
	$(BIN)/ruff format --check $(FOLDERS)
	$(BIN)/ruff check $(FOLDERS)
	$(BIN)/mypy
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/test_layers.py tests/test_rooms.py tests/test_readme.py tests/test_params.py tests/test_mutants.py

test: $(VENV)/.dev-ready
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" $(ARGS)

shots: $(VENV)/.run-ready
	$(BIN)/python -m cli.shots
	rm -f docs/shots/lazy-eager.gif
	$(BIN)/python main.py record assets/scenarios/bridges.yaml -o docs/shots/lazy-eager.gif --size 900x520 --fps 20 --captions

thumbs: $(VENV)/.run-ready
	$(BIN)/python -m cli.thumbs

readme: $(VENV)/.run-ready
	$(BIN)/python -m cli.readme

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

# A stamp is newer than the requirements that were installed when it was touched.
$(VENV)/.run-ready: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.dev-ready: requirements-dev.txt requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@ $(VENV)/.run-ready

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Backmove needs Python 3.11 or later; $(PYTHON) is missing or older. Try: make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "could not make $(VENV); on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
