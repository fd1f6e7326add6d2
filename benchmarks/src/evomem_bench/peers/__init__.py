"""Other memories on the same notes with the same embedder, each in an environment of its own."""
