"""Work items, their fingerprints, and the store of what became of them. Knows nothing of plans or robots."""
