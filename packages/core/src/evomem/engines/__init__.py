"""Storage engines: the port and its implementations."""
