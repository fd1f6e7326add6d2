"""Values and pure rules: nothing in here reads a clock, a file or a database."""
