"""Talking to a Messages endpoint: requests out, streams in, failures by class.

`request` builds the body, `anthropic` or `scripted` carries it, `sse` and `messages` turn the stream into a
message, `failures` says what a failure means, `retry` runs one round trip, and `usage` counts.
"""
