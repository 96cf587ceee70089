"""mcode: an interactive terminal coding agent.

The package holds the rooms of the house; README.md has the map. Nothing here imports anything slow.
"""

__version__ = "0.1.0"
