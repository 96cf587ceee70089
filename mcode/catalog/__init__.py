"""Which tools exist and where each one sits."""
