"""How often the same plan, done again by the same code, ends otherwise: a run's flip rate."""
