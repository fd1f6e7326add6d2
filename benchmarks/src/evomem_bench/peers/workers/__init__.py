"""Run by path under the Python of a peer; nothing here imports the rest of the benchmarks."""
