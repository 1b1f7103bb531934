"""Reward models: video and instruction in, one score from 1 to 5 out."""
