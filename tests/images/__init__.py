"""Tests of mcode/images."""
