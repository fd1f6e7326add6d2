"""How fast EvoMem writes, recalls and starts, beside what it is built on."""
