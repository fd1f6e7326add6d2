"""Lets `python -m evomem` do what the command `evomem` does."""

from __future__ import annotations

from evomem.cli.main import main

if __name__ == "__main__":
    main()
