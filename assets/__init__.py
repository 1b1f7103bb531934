"""The Dagster code location: one file per gate. It knows orchestration and nothing of robots."""

import warnings

import dagster as dg

# the gates rest on backfill policies, which are beta; a warning for each asset would hide all others
warnings.filterwarnings("ignore", category=dg.BetaWarning)
