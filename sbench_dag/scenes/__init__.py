"""Scenes: how a house is rebuilt, restored to an episode's end state, checked (gate G0) and rendered."""
