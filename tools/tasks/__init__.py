"""Tasks of tools/eval_modes.py: a folder each, with its servers, its question, its checker and its scripted policy."""
