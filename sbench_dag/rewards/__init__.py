"""Rollout scores: how far a rollout got by the simulator's own truth, and how far off a score is from that."""
