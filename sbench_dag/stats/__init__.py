"""Statistics of rates: thin over scipy."""
