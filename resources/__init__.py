"""Dagster's handles on what lies outside it: one file per outside system."""
