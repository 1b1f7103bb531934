"""A small reward model of our own, which is trained here and needs nothing from elsewhere."""
