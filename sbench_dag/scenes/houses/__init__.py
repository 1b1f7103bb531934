"""Procedural houses: the embedded benchmark's scenes, built of primitives from nothing but a number."""
