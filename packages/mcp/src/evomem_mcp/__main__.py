"""Run the server: `python -m evomem_mcp`."""

import sys

from evomem_mcp.main import main

if __name__ == "__main__":
    sys.exit(main())
