"""Masking of secrets in everything that mcode writes: journals, logs, exports, errors.

A secret is known by its value (the environment's secret variables, mcode's own keys: `masker.py`), by the
shape that its issuer gives it (`shapes.py`), by its place in a header or an address (`places.py`), or by the
name it stands under (`names.py` judges, `assignments.py` finds). It becomes a mark that holds its kind and,
where it is long enough, its last four characters. The same secret gives the same mark, and a masked text
masked again stays as it is. Every pass looks for fixed words and takes a bounded look around each find, so
the time is linear in the length of the text.
"""

from __future__ import annotations

from mcode.masking.masker import Masker
from mcode.masking.names import is_secret_name

__all__ = ["Masker", "is_secret_name"]
