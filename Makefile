# make lessons and make test are all that a reader needs; `make` lists the rest.
# Windows has no make: the commands are in README.md.

PYTHON ?= python3
PORT   ?= 8888
# where the environment and the learner's copy are; set these only on the command line: a shell's own VENV may be another project's
VENV    = .venv
LESSONS = my_lessons
# with FROM_ELSEWHERE=1 `make lite` and `make trylite` may ask Pyodide's server for Python
export FROM_ELSEWHERE
# which tests: a pytest -m expression; `make long`, `make torch` and `make browser` run what is left out here
TESTS  ?= not long and not torch and not browser

override VENV := $(patsubst ~/%,$(HOME)/%,$(VENV))
RUN    := "$(VENV)/bin/python"
SETUP  := VENV="$(VENV)" $(PYTHON) tools/set_up.py
# bytecode is kept, whatever the environment says: the tests start a hundred Pythons. Tests run two at a time, each on one core:
# threads of NumPy's own would only wait for each other
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -q -p tests.early

.DEFAULT_GOAL := help
.PHONY: help python lessons test long torch browser notebooks bench lint format screenshot gallery zoo site lite trylite clean

help:  ## this list
	@echo "minigrad: see automatic differentiation work"; echo
	@sed -n 's/^\([a-z]*\):.*## /  make \1~/p' Makefile | awk -F'~' '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo; echo "  PORT=8890 chooses the port of lessons, PYTHON=python3.12 the Python that .venv is made with,"
	@echo "  VENV=~/place LESSONS=~/place where the environment and your lessons are"

lessons: python  ## open your copy of the lessons in JupyterLab (the first time: set up .venv)
	@$(SETUP) lessons
	@exec $(RUN) tools/lessons.py "$(PORT)" --folder "$(LESSONS)"

test: python  ## run the tests and every lesson from top to bottom, in two minutes; needs neither PyTorch nor a browser
	@$(SETUP) lessons tests
	@$(PYTEST) -n 2 --dist loadscope --nbval --nbval-current-env --nbval-kernel-startup-timeout 120 \
	  --nbval-sanitize-with tests/nbval.cfg -m "$(TESTS)"

long: python  ## run only the tests that try every line, every answer or a fresh environment
	@$(SETUP) lessons tests
	@$(PYTEST) -n 2 --dist worksteal tests -m "long and not torch and not browser"

# tests that also open pages run in `make browser`
torch: python  ## run only the tests that compare with PyTorch (installs it: large)
	@$(SETUP) lessons tests torch
	@$(PYTEST) -n 2 --dist worksteal tests -m "torch and not browser"

browser: python  ## run only the tests that drive JupyterLab and pages in Chromium
	@$(SETUP) lessons tests browser
	@$(PYTEST) -n 2 --dist worksteal tests/browser

notebooks: python  ## run all lessons in place and normalise what they print (twice changes nothing)
	@$(SETUP) lessons tests
	@$(RUN) -m tools.options
	@$(RUN) notebooks/build.py
	@$(RUN) -m tools.readme

bench: python  ## measure minigrad and viz beside PyTorch, autograd, micrograd and NumPy
	@$(SETUP) benchmarks browser lessons tests
	@$(RUN) -m benchmarks

lint: python  ## check style and format with ruff, types with mypy
	@$(SETUP) tests
	@$(RUN) -m ruff check && $(RUN) -m ruff format --check
	@$(RUN) tools/stubs.py --check && $(RUN) -m mypy

format: python  ## let ruff put style and format right
	@$(SETUP) tests
	@$(RUN) -m ruff check --fix && $(RUN) -m ruff format

site: python  ## write the lessons as static pages that step without Jupyter, into site/
	@$(SETUP) lessons tests
	@$(RUN) -m tools.site

lite: python  ## write the lessons as a site on which they run with nothing installed, into lite/ (needs npm)
	@$(SETUP) lessons
	@$(RUN) -m tools.lite

trylite: python  ## check what `make lite` wrote; with NUMPY_WASM=file or PYODIDE=folder, run every lesson in Chromium, one in Firefox
	@$(SETUP) lessons tests browser
	@$(PYTEST) -n 2 --dist worksteal tests/lite

screenshot: python  ## take the README's picture again (needs chromium)
	@$(SETUP) lessons tests browser
	@$(RUN) -m tools.screenshot

zoo: python  ## try viz on 130 models, each number compared with PyTorch's hooks (half an hour; writes docs/zoo.md)
	@$(SETUP) tests torch zoo
	@$(RUN) -m tools.zoo

gallery: python  ## draw docs/gallery again: one picture for each kind of graph
	@$(SETUP) tests
	@$(RUN) -m tools.gallery

clean:  ## remove .venv and everything else that was made here, but for your lessons
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "minigrad: there is no $(PYTHON) on this machine. Install Python 3.11" \
	  "or newer (python.org, your package manager or conda), or name one: make lessons PYTHON=/path/to/python3" >&2; exit 1; }
