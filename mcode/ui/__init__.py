"""Front ends: subscribers of the core's events, senders of its commands."""
