"""Tests of mcode/session."""
