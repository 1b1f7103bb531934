"""Answers become plans; equal ones are executed once; their results are expanded back to every cell."""
