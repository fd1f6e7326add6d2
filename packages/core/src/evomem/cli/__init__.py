"""The command `evomem`: the memory for people and for scripts."""
