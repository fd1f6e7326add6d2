"""The linker: which earlier note a new note replaces, if any."""
