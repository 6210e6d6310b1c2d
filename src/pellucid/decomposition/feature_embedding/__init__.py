"""Feature embedding: vectors for things of which only similarities are known."""
