"""Measurements: `python -m benchmarks.<name> --help`."""

import sbench_dag  # noqa: F401  (before mujoco: it chooses how to render)
