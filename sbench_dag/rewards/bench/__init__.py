"""Labelled videos and stored predictions, as others publish them and as we do."""
