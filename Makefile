# Needs python3.11, pip and make; everything else is installed into .venv from the lock.
PYTHON ?= python3.11
VENV := .venv
CORES ?= all
RESULTS ?= results
# In recipes these are the shell's, in quotes: a folder's name may hold spaces or signs that mean something to it.
export PYTHON CORES RESULTS ARCHIVE MNIST ROUNDS
ON_PATH := PATH="$$PWD/$(VENV)/bin:$$PATH"
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled
# VERBOSE=1 prints Snakemake's own messages, with a block for every job, instead of a progress bar.
RUN := @$(ON_PATH) python -m snakemake --cores "$$CORES" $(if $(VERBOSE),--logger-lssc-show-jobs)

.PHONY: demo digits scale check test test-core test-crash test-slurm paper leaderboard archive repeat lint bench keep docs docs-html lock help

help:
	@echo "make demo   the real pipeline on small grids, to figures, in about a minute"
	@echo "make digits Fig. 2 small, on 6,000 real digits (fetched by npm, OpenML or from your folder)"
	@echo "make scale  FSC on up to ten million points, in minutes; HUGE=1: on a hundred million, in about half an hour"
	@echo "make check  ruff and the fast tests, in about a minute, for people who are editing"
	@echo "make test   set up, then run the tests on two cores, in about three minutes"
	@echo "make test-core   the slow tests; then the library alone, from its wheel, on Python 3.10, 3.12 and 3.13, in about seven minutes"
	@echo "make test-crash  kill real runs, damage their files, fill their disk; the scores stay the same; ROUNDS=100: in a quarter of an hour"
	@echo "make test-slurm  run through a real Slurm, installed and started for it (root, Debian), in about eight minutes"
	@echo "make paper  every experiment of config/config.yaml, in full"
	@echo "make leaderboard  every method on every dataset, in about three hours on two cores; SMALL=1: on small data, in minutes"
	@echo "make archive results, config, source and lock in one file, \$$(RESULTS)/lssc-archive.tar.gz; RESULTS=results/demo for the demo"
	@echo "make repeat ARCHIVE=FILE  verify an archive, run it again from its own source and lock, compare the scores;"
	@echo "            this runs the code in the archive: checksums show damage, not who made it"
	@echo "make lint   the checks that CI runs"
	@echo "make bench  speed, accuracy and memory beside other libraries, in about an hour, to docs/benchmarks.md"
	@echo "make keep   after make paper: copy tables and figures to docs, then make docs; RESULTS=results/leaderboard after that"
	@echo "make docs   write the tables of docs/results into the documents"
	@echo "make docs-html  the site, without a network, to docs/_build/html: guide, API, gallery, results; in about a minute"
	@echo "make lock   resolve the dependencies of pyproject.toml anew"
	@echo "demo, digits, scale, paper and leaderboard take CORES=4 (default: all cores) and VERBOSE=1 (Snakemake's block for every job)"

# The marker is written last, so that an interrupted installation is repeated.
$(READY): envs/requirements.lock pyproject.toml
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo "lssc needs Python 3.11; call make with PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "installing into $(VENV), in a few minutes"
	@"$$PYTHON" -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.lock
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Compile the kernels now, not in the first jobs; Numba caches them.
$(COMPILED): $(READY) $(wildcard workflow/lssc/kernels/*.py)
	@echo "compiling the kernels, in a minute or two"
	@$(ON_PATH) python -m lssc.parts.compiling
	@touch $@

demo: $(COMPILED)
	$(RUN) --configfile config/demo.yaml
	@echo "all on one page: results/demo/report.html"
	@echo "figures, each with its table: results/demo/experiments/*/figures"

digits: $(COMPILED)
	$(RUN) --configfile config/digits.yaml
	@echo "all on one page: results/digits/report.html"
	@echo "figures and pictures: results/digits/experiments/mnist"

# A hundred million points are coded by one job on all cores.
scale: $(COMPILED)
	$(RUN) --configfile config/scale.yaml $(if $(HUGE),--config run='[hundred_million]' --set-threads code_points=$$(nproc))
	@echo "all on one page: results/scale/report.html"
	@echo "figures and tables: results/scale/experiments"

# Two workers, one file at a time: tests of a file share its fixtures.
PARALLEL := -n 2 --dist loadfile --no-loadscope-reorder
test: $(COMPILED)
	$(ON_PATH) python -m pytest $(PARALLEL)

# The fast half, for people who are editing: no run of the workflow, no build.
check: $(COMPILED)
	$(ON_PATH) ruff check .
	$(ON_PATH) ruff format --check .
	$(ON_PATH) python -m pytest $(PARALLEL) tests/unit tests/contract tests/reference

# Installs the wheel beside the oldest and the newest versions of its dependencies, for each Python on this machine.
test-core: $(COMPILED)
	$(ON_PATH) python -m pytest $(PARALLEL) -m slow
	@$(ON_PATH) python tests/environments.py

# Kills runs 25 times, or ROUNDS times, kills their servers, damages files and fills the disk.
test-crash: $(COMPILED)
	$(ON_PATH) python -m pytest $(if $(ROUNDS),-o faulthandler_timeout=7200) tests/crash

# Cancels jobs, lets them run out of memory and kills their controller. Never touches a Slurm that is already running.
test-slurm: $(COMPILED)
	@$(ON_PATH) python tests/slurm/cluster.py
	$(ON_PATH) python -m pytest -m slurm tests/slurm

paper: $(COMPILED)
	$(RUN)
	@echo "verdicts, figures, parameters and versions on one page: results/report.html"

LEADERBOARD := leaderboard$(if $(SMALL),_small)
leaderboard: $(COMPILED)
	$(RUN) --configfile config/$(LEADERBOARD).yaml
	@echo "tables, ranks and figures on one page: results/$(LEADERBOARD)/report.html"

archive: $(READY)
	$(ON_PATH) python -m lssc.report.archive pack --results "$$RESULTS" --out "$$RESULTS/lssc-archive.tar.gz"

# In a checkout the archive is unpacked, unless an interrupted repeat did so, and its own Makefile goes on; that one finds config
# and results beside the source. The comparison lists what failed, such as images that cannot be downloaded.
ifdef ARCHIVE
REPEAT := results/repeat/lssc-archive
repeat: $(READY)
	$(ON_PATH) python -m lssc.report.archive unpack "$$ARCHIVE" $(REPEAT)
	@echo "What follows is run by the archive's own Makefile and code."
	$(MAKE) -C $(REPEAT)/source repeat ARCHIVE=
else
repeat: $(COMPILED)
	@test -f ../SHA256SUMS || { echo "which archive? make repeat ARCHIVE=FILE" >&2; exit 1; }
	-$(RUN) --replace-workflow-config --configfile ../config.yaml
	$(ON_PATH) python -m lssc.report.archive compare ../results results
endif

lint: $(READY)
	$(ON_PATH) ruff check .
	$(ON_PATH) ruff format --check .
	$(ON_PATH) snakefmt --check Snakefile workflow/rules
	$(ON_PATH) snakemake --lint
	$(ON_PATH) lint-imports
	$(ON_PATH) codespell
	@large=$$(git ls-files -z | xargs -0 -r ls -ld 2>/dev/null | awk '$$5 > 1000000 {print $$5, $$NF}'); \
		test -z "$$large" || { echo "files over 1 MB do not belong in git: $$large" >&2; exit 1; }

# MNIST=data.h5 gives features of digits; without it, those of experiment `mnist` are used, or made here once.
bench: $(COMPILED)
	$(ON_PATH) python benchmarks/run.py $(if $(MNIST),--mnist "$$MNIST")

# After a run of `paper`: its tables and figures into docs, and the numbers into the documents. The time and memory of all
# jobs are those of `paper`.
keep: $(READY)
	$(ON_PATH) python docs/keep.py "$$RESULTS"
	$(if $(filter results,$(RESULTS)),$(ON_PATH) python docs/jobs.py "$$RESULTS")
	$(MAKE) docs

docs: $(READY)
	$(ON_PATH) python docs/tables.py

# Examples run again only if they changed. Warnings are errors.
docs-html: $(COMPILED)
	$(ON_PATH) python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky docs docs/_build/html
	$(ON_PATH) python -m pytest --quiet tests/site
	@echo "the site: docs/_build/html/index.html"

lock:
	"$$PYTHON" -m venv .lockenv
	.lockenv/bin/pip install --quiet pip-tools
	.lockenv/bin/pip-compile --quiet --allow-unsafe --all-extras --generate-hashes --strip-extras --no-annotate \
		--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file envs/requirements.lock pyproject.toml
	rm -rf .lockenv
