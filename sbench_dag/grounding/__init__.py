"""Stage B: from the words of an answer to a place to stand, without ever looking at the truth."""
