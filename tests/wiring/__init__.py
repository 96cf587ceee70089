"""Tests of the rooms put together."""
