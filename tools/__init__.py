"""Programs for maintainers: the scripted Messages server, benchmarks, recordings. Never imported by mcode."""
