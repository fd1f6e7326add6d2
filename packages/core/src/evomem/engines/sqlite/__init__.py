"""The SQLite engine: one file, the standard library's driver, no loadable extension."""
