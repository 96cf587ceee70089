"""Tests of the room that talks to a model's endpoint."""
