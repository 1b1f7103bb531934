"""Dagster's daemon with short ticks: a backfill of six gates would take minutes of waiting for the next one."""

import sys

import dagster._daemon.controller
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._daemon.cli import cli

if __name__ == "__main__":
    dagster._daemon.controller.DEFAULT_DAEMON_INTERVAL_SECONDS = 1
    QueuedRunCoordinator.dequeue_interval_seconds = 1  # type: ignore[assignment]
    cli(["run", *sys.argv[1:]])
