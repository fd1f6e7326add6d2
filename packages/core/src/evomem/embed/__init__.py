"""The embedder: texts to vectors, for a recall that also finds what is worded otherwise."""
