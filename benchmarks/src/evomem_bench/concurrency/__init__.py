"""Many processes on one file, and processes that are killed: what is acknowledged, kept and lost."""
