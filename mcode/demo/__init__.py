"""A server of tools to try mcode with: the books of an invented office. `python -m mcode.demo` serves it on pipes.

It needs no network and no library. All data follow from numbers, so every answer can be worked out and checked.
"""
