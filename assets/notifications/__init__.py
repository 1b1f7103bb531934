"""Telling people of failed runs."""
