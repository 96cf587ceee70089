"""Programs: the thirty of the design, hostile ones, and what lies beneath them."""
