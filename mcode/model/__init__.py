"""Talking to a Messages endpoint: requests out, streams in, failures by class.

`request` builds the body, `anthropic` or `scripted` carries it, `sse`, `messages` and `blocks` turn the stream
into a message, `failures` says what a failure means, `retry` runs one round trip, `profiles` knows endpoints,
and `usage` and `tokens` count.
"""
