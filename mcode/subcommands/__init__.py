"""What `mcode WORD ...` does without opening a session: one module a word, with `main(arguments) -> int`."""
