# Two commands do everything on a fresh machine: make demo, make test.
VENV ?= .venv
PYTHON ?= python3
PROFILE ?= mini
JOBS ?= 3
BIN := $(VENV)/bin
export SBENCH_HOME ?= $(CURDIR)/.sbench
export DAGSTER_HOME ?= $(CURDIR)
export SBENCH_DAGSTER ?= $(SBENCH_HOME)/dagster
# dagster.yaml names classes of assets/, which is not installed
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))

.PHONY: demo test check ui format slurm-up slurm-down postgres-up postgres-down test-mujoco35 clean

demo: $(VENV)/installed  ## the embedded benchmark from nothing to its grid and report
	$(BIN)/sbench dataset make --profile $(PROFILE)
	$(BIN)/sbench study create --dataset $(SBENCH_HOME)/datasets/embedded-$(PROFILE) --name $(PROFILE)
	$(BIN)/python -m assets run --study $(PROFILE)

test: $(VENV)/installed  ## all tests that need no GPU
	scripts/test-packages
	$(BIN)/python -m pytest -m "not gpu and not mujoco35" -n $(JOBS) --dist loadgroup $(ARGS)

check: $(VENV)/installed  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

ui: $(VENV)/installed  ## the Dagster UI on http://localhost:3000
	mkdir -p $(SBENCH_DAGSTER)
	$(BIN)/dagster dev -w workspace.yaml

slurm-up:  ## a real Slurm of four pretended nodes on this machine
	scripts/slurm-sandbox up $(ARGS)

slurm-down:  ## stop it and forget it
	scripts/slurm-sandbox down --wipe

postgres-up:  ## a Postgres of its own on this machine, for Dagster's events
	scripts/postgres-sandbox up

postgres-down:  ## stop it; what is in it stays
	scripts/postgres-sandbox down

test-mujoco35: $(VENV)/installed .venv-mujoco35/installed  ## what simulates, on the MuJoCo that MolmoSpaces pins
	$(BIN)/python -m pytest -m mujoco35
	.venv-mujoco35/bin/python -m pytest tests/scenes tests/robot tests/grounding tests/manipulation $(ARGS)

$(VENV)/installed: pyproject.toml scripts/system-packages
	scripts/system-packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

.venv-mujoco35/installed: pyproject.toml requirements-worker.txt
	scripts/system-packages
	$(PYTHON) -m venv .venv-mujoco35
	.venv-mujoco35/bin/pip install --quiet --disable-pip-version-check -r requirements-worker.txt "mujoco==3.5.*" pytest pytest-timeout
	.venv-mujoco35/bin/pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

clean:  ## forget environments and results
	rm -rf $(VENV) .venv-mujoco35 .sbench
