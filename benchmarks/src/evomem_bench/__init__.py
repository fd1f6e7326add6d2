"""The benchmarks of EvoMem: every published figure is made by one of its commands."""
