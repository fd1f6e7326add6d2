"""Bounds of an answer, apart from what enforces them: the command line needs no SDK to read them."""

DEFAULT_MAX_CHARS = 60_000
"""Below the 25,000 tokens after which common clients throw an answer away."""

LEAST_MAX_CHARS = 4_000
"""Room for one cut note and for what was left out."""
