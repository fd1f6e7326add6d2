"""How latency, relevance and size change from a thousand notes to a million."""
