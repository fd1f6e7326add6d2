"""Use cases: the write path, the read path, and the facade over both."""
