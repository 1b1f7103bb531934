"""Slurm: one array of shards for what a gate misses. The store says what is done, Slurm only what may still come."""
