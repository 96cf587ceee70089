"""A conversation: turns, their history, and what the model is told."""
