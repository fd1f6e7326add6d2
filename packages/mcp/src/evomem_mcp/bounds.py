"""What the command line needs to know of the server, which is slow to import: bounds and names."""

DEFAULT_MAX_CHARS = 60_000
"""Below the 25,000 tokens after which common clients throw an answer away."""

LEAST_MAX_CHARS = 4_000
"""Room for one cut note and for what was left out."""

TOOLSETS = ("notes", "patch", "all")
"""Which tools a server can offer; the first is the default."""
