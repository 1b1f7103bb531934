"""A study's numbers as files for other programs and for papers."""
