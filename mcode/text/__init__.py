"""Foreign text for terminals and for the model: cleaned, measured, shortened.

`clean` is the only way of foreign text to a terminal; `cell_width` and `shorten` come after it. Files:
`cleaning.py` (what goes and what is made visible), `lookalikes.py` (names that imitate others), `width.py`,
`links.py` (which addresses may become links).
"""

from __future__ import annotations

from mcode.text.cleaning import Kind, clean, show_control
from mcode.text.links import link_target
from mcode.text.width import cell_width, shorten

__all__ = ["Kind", "cell_width", "clean", "link_target", "shorten", "show_control"]
